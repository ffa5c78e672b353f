export { type AccountHost, accountHost, hostOfOwner, type Obstacle } from './account-host.ts';
export {
  AccountProblem,
  findAccount,
  isRoot,
  maySudo,
  ownName,
  requireGroup,
  requireNotDatabase,
  requireSudo,
} from './accounts.ts';
export { capture } from './capture.ts';
export { isClosedPath } from './closed-path.ts';
export { commandEnvironment, environmentOfAccount, passOn } from './environment.ts';
export {
  type Command,
  type Commands,
  type Host,
  HostAway,
  HostTimeout,
  type ProcessHandle,
  type RunOptions,
} from './host.ts';
export { localHost } from './local.ts';
export {
  bytesBetween,
  collect,
  isGone,
  type OpenFile,
  openerInside,
  openRegular,
  readEnd,
  unlessGone,
} from './reading.ts';
export { type SshHost, type SshHosts, sshHosts } from './ssh.ts';
export { sudoCommands, SudoRefused } from './sudo.ts';
