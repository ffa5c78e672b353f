/**
 * Compiles what an environment holds, so that the first job does not: the account that runs tasks may be unable to write there,
 * and then every process would compile all that it imports.
 */

/** What is no Python (templates, files for other versions) is left as it is; installers and tests are not what tasks import. */
const COMPILE = `
import compileall, re, sysconfig
for folder in sorted({sysconfig.get_path(name) for name in ("purelib", "platlib")}):
    compileall.compile_dir(folder, quiet=2, rx=re.compile(r"/(tests|pip|setuptools|pkg_resources)/"), workers=0)
`;

export const compileCommand = (python: string): [string, ...string[]] => [python, '-I', '-c', COMPILE.trim()];
