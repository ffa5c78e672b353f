export { capture } from './capture.ts';
export { passOn } from './environment.ts';
export { type Command, type Commands, type Host, HostAway, HostTimeout, type ProcessHandle } from './host.ts';
export { localHost } from './local.ts';
export { type SshHost, type SshHosts, sshHosts } from './ssh.ts';
export { sudoCommands, SudoRefused } from './sudo.ts';
