/**
 * Which variables of the service's environment the commands see that it starts: those that are named here, or by the
 * operator. All others may be somebody's secret.
 */

/** Where programs, files and languages are; how much of the machine to use; which way leads to the network. */
const NAMED = [
  'PATH,HOME,USER,LOGNAME,SHELL,TZ,TZDIR,TMPDIR,TMP,TEMP,LANG,LANGUAGE,LC_*,XDG_*,HOSTNAME',
  'LD_LIBRARY_PATH,PYTHON*,MODULEPATH*,LOADEDMODULES,_LMFILES_,LMOD_*,SLURM_*,SBATCH_*',
  'CUDA_*,NVIDIA_*,ROCR_VISIBLE_DEVICES,HIP_VISIBLE_DEVICES,GPU_DEVICE_ORDINAL',
  'OMP_*,MKL_*,OPENBLAS_*,BLIS_*,NUMEXPR_*,NUMBA_*,KMP_*,VECLIB_*,MALLOC_*,MPLBACKEND,MPLCONFIGDIR',
  'http_proxy,https_proxy,ftp_proxy,all_proxy,no_proxy,HTTP_PROXY,HTTPS_PROXY,FTP_PROXY,ALL_PROXY,NO_PROXY',
  'SSL_CERT_FILE,SSL_CERT_DIR,REQUESTS_CA_BUNDLE,CURL_CA_BUNDLE',
].join();

/** How pip, uv, pixi and git are set up, which may hold the credentials of a package index. Not for tasks. */
const OF_INSTALLERS =
  'PIP_*,UV_*,PIXI_*,RATTLER_*,CONDA_*,MAMBA_*,GIT_*,SSH_AUTH_SOCK,NETRC,CC,CXX,CFLAGS,CXXFLAGS,LDFLAGS';

/** Settings of the service itself are for nobody else, whatever is named. */
const OWN = /^(SERVICE|FRACTAL|POSTGRES|JWT|OAUTH|COOKIE|DB)_/;
/** Passed on only under its full name. */
const LOOKS_SECRET = /SECRET|PASSW|PWD|TOKEN|CREDENTIAL|JWT|AUTH|_KEY$/i;

type Test = (name: string) => boolean;

/** `HF_HOME,CELLPOSE_*`: names, separated by commas; a star at the end stands for every ending that looks harmless. */
function anyOf(names: string, { secrets = false } = {}): Test {
  const all = names.split(',').map((name) => name.trim());
  const exact = new Set(all.filter((name) => !name.endsWith('*')));
  const beginnings = all.filter((name) => name.endsWith('*') && name.length > 1).map((name) => name.slice(0, -1));
  const isMeant = (name: string) => secrets || !LOOKS_SECRET.test(name);
  return (name) => exact.has(name) || (isMeant(name) && beginnings.some((beginning) => name.startsWith(beginning)));
}

const isNamed = anyOf(NAMED);
const isOfInstallers = anyOf(OF_INSTALLERS, { secrets: true });
let isFurther: Test = () => false;

/** Names further variables, once for the process, as its environment is. */
export function passOn(names: string | null): void {
  isFurther = anyOf(names ?? '');
}

export function commandEnvironment({ installs = false } = {}): Record<string, string> {
  const passes = (name: string) => isNamed(name) || isFurther(name) || (installs && isOfInstallers(name));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.test(name) && passes(name))) as Record<
    string,
    string
  >;
}

/** What names folders of the account that the service runs as. */
const OF_OWN_ACCOUNT = anyOf('HOME,USER,LOGNAME,SHELL,MAIL,SSH_AUTH_SOCK,NETRC,XDG_*', { secrets: true });

/** The same for commands of another account: the home and name are its own, and those of the service are left out. */
export function environmentOfAccount(
  { name, home, shell }: { name: string; home: string; shell: string },
  options: { installs?: boolean } = {},
): Record<string, string> {
  const all = Object.entries(commandEnvironment(options)).filter(([variable]) => !OF_OWN_ACCOUNT(variable));
  return { ...Object.fromEntries(all), HOME: home, USER: name, LOGNAME: name, SHELL: shell };
}
