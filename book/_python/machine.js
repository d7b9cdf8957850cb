// CPython's module with the files that it sees, made ready to run: in a page's worker, and where it is packed.

import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

// An instance, without a call yet, and what writes a file into its folder /tmp. Each line that Python prints goes to `printed`; `instead` replaces calls of the system.
export async function started(module, files, printed, instead = {}) {
  const temporary = new Map();
  const folder = new Map([...files].map(([name, bytes]) => [name, new File(bytes)]));
  const descriptors = [
    new OpenFile(new File([])),
    ConsoleStdout.lineBuffered(printed),
    ConsoleStdout.lineBuffered(printed),
    new PreopenDirectory("/usr/local/lib", folder),
    new PreopenDirectory("/", new Map([["tmp", new Directory(temporary)]])),
  ];
  const variables = ["TMPDIR=/tmp", "PYTHONTZPATH=", "HOME=/tmp", "PYTHONHASHSEED=0"];
  const wasi = new WASI(["/usr/local/bin/python.wasm"], variables, descriptors, { debug: false });
  const python = await WebAssembly.instantiate(module, {
    wasi_snapshot_preview1: { ...wasi.wasiImport, ...instead },
    host: { call: () => -1 },
  });
  wasi.inst = python;
  return { python, write: (name, bytes) => temporary.set(name, new File(bytes)) };
}
