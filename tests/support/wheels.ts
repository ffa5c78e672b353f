/** Small task packages as wheels, made with Python's standard library alone. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const BUILD = `
import hashlib, json, base64, os, sys, zipfile
folder, spec = sys.argv[1], json.loads(sys.argv[2])
name, version = spec["name"], spec["version"]
path = os.path.join(folder, f"{name}-{version}-py3-none-any.whl")
info = f"{name}-{version}.dist-info"
files = dict(spec["files"])
files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n" + (f"Requires-Python: {spec['python']}\\n" if spec.get("python") else "") + "".join(f"Requires-Dist: {r}\\n" for r in spec["requires"])
files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
record = "".join(f"{f},sha256={base64.urlsafe_b64encode(hashlib.sha256(t.encode()).digest()).rstrip(b'=').decode()},{len(t.encode())}\\n" for f, t in files.items())
files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\\n"
with zipfile.ZipFile(path, "w") as archive:
    for f, t in files.items():
        archive.writestr(f, t)
print(path)
`;

interface Wheel {
  name: string;
  version?: string;
  files: Record<string, string>;
  requires?: string[];
  /** Versions of Python that it runs on, such as `>=3.12`. */
  python?: string;
}

/** Writes a wheel and gives back where it is. */
export const buildWheel = (folder: string, { name, version = '1.0.0', files, requires = [], python }: Wheel): string =>
  execFileSync('python3', ['-c', BUILD, folder, JSON.stringify({ name, version, files, requires, python })], {
    encoding: 'utf8',
  }).trim();

export const TASK = { name: 'Say hello', executable_parallel: 'hello.py', type: 'parallel' };

export const manifest = (tasks: object[] = [TASK], more: object = {}) =>
  JSON.stringify({ manifest_version: '2', task_list: tasks, has_args_schemas: false, ...more });

/** A package with one task that works. */
export const goodFiles = (importName: string, tasks?: object[]) => ({
  [`${importName}/__init__.py`]: '',
  [`${importName}/hello.py`]: 'print("hello")\n',
  [`${importName}/__FRACTAL_MANIFEST__.json`]: manifest(tasks),
});

export function uploadForm(path: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([readFileSync(path)], { type: 'application/zip' }), path.split('/').at(-1));
  return form;
}
