const about = JSON.parse(document.getElementById("about").textContent);
const [start, clock, body, done, said] = ["start", "clock", "body", "done", "said"].map((id) =>
  document.getElementById(id));
let begun = 0, timer = 0;
const seconds = () => Math.round((Date.now() - begun) / 1000);
const show = () => {
  const left = Math.max(0, 60 * about.minutes - seconds());
  clock.textContent = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
  if (!left) finish();
};
const finish = () => {
  if (!timer) return;
  clearInterval(timer);
  timer = 0;
  const answers = [...document.querySelectorAll("fieldset")].map((set) => {
    set.disabled = true;
    return (set.querySelector("input:checked") || { value: "-" }).value;
  }).join("");
  const saved = JSON.stringify({ ...about, answers, seconds: seconds() });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([saved], { type: "application/json" }));
  link.download = "viva-" + about.viva + ".json";
  link.textContent = link.download;
  done.hidden = true;
  said.replaceChildren("Your answers " + answers + " are saved in the file ", link, ". Hand in this file.");
  said.focus();
  link.click();
};
start.addEventListener("click", () => {
  start.hidden = true;
  body.hidden = clock.hidden = false;
  begun = Date.now();
  timer = setInterval(show, 500);
  show();
});
done.addEventListener("click", finish);
