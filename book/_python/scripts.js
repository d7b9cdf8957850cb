// Scripts of the book that are loaded when somebody asks: from the disk, too, where fetch is not allowed.

export const root = () => document.documentElement.dataset.content_root || "./";

const loading = (globalThis.softlookupLoading ??= new Map()); // what one script has loaded serves all
export function script(name, folder = "python") {
  const address = `${root()}_static/${folder}/${name}`;
  if (!loading.has(address)) {
    loading.set(
      address,
      new Promise((done, failed) => {
        const element = document.createElement("script");
        element.src = address;
        element.onload = done;
        element.onerror = () => {
          loading.delete(address);
          failed(new Error(`${name} could not be loaded. Is the book's folder complete, and the network there?`));
        };
        document.head.append(element);
      }),
    );
  }
  return loading.get(address);
}
