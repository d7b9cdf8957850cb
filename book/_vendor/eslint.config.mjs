// What each script may use: browsers' own names; figures also what shared.js defines, which is put in front of them.
import { readFileSync } from "node:fs";

import js from "@eslint/js";
import globals from "globals";

const shared = readFileSync(new URL("../../lib/course/softlookup_course/widgets/shared.js", import.meta.url), "utf8");
const names = [...shared.matchAll(/^(?:const|let|function) (\w+)/gm)].map((match) => [match[1], "readonly"]);

export default [
  { ignores: ["_build/**", "**/node_modules/**", "my_work/**", "course/**"] },
  js.configs.recommended,
  { languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: globals.browser } },
  { files: ["lib/course/softlookup_course/widgets/*.js"], languageOptions: { globals: Object.fromEntries(names) } },
  { files: ["lib/course/softlookup_course/widgets/shared.js"], rules: { "no-unused-vars": "off", "no-redeclare": "off" } },
  { files: ["book/_python/{pyodide,serve,wasi}.js"], languageOptions: { globals: globals.worker } },
  { files: ["book/_live/*.js"], languageOptions: { globals: { ...Object.fromEntries(names), SIZES: "readonly", PARTS: "readonly", LAYERS: "readonly" } } }, // pack_live.py
  { files: ["book/_live/{serving,worker,writer_worker}.js"], languageOptions: { globals: globals.worker } },
  { files: ["**/*.mjs"], languageOptions: { globals: globals.node } },
];
