export { capture } from './capture.ts';
export { commandEnvironment, passOn } from './environment.ts';
export { type Command, type Commands, type Host, HostAway, HostTimeout, type ProcessHandle } from './host.ts';
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
