// Pyodide from an address of the course's own, in place of the Python that the book carries.

import { Broken, file, serve } from "./serve.js";

const LIBRARY = "softlookup.zip";

serve(async ({ pyodide }) => {
  let python = null;
  try {
    const { loadPyodide } = await import(`${pyodide}pyodide.mjs`);
    python = await loadPyodide({ indexURL: pyodide });
  } catch (error) {
    throw new Error(`Pyodide could not be started from ${pyodide}: ${error.message || error}`);
  }
  const quiet = () => {};
  await python.loadPackage("numpy", { messageCallback: quiet, errorCallback: quiet });
  if (!python.loadedPackages.numpy) throw new Error(`There is no numpy for Pyodide in ${pyodide}`);
  python.FS.writeFile(`/tmp/${LIBRARY}`, await file(LIBRARY));
  python.runPython(`import sys; sys.path.append("/tmp/${LIBRARY}")`);
  const { answer } = python.pyimport("softlookup_course.in_page.session");
  return {
    write: (name, bytes) => python.FS.writeFile(`/tmp/${name}`, bytes),
    answer(request) {
      try {
        return answer(request);
      } catch (error) {
        throw new Broken(`Python stopped: ${error.message || error}. The next check starts it again.`);
      }
    },
  };
});
