/**
 * Other machines, over SSH.
 *
 *     const hosts = sshHosts({ knownHosts: '/var/lib/service/known_hosts', log });
 *     const host = hosts.host({ host: 'login.example.org', username: 'alice', keyPath: '/etc/service/alice' });
 *     const { stdout } = await capture(host, ['squeue', '--noheader']);
 *     hosts.close();
 *
 * All who ask for the same host, user and key share one connection (`ssh/connection.ts`).
 */
import type { Host } from './host.ts';
import type { SshIdentity } from './ssh/connect.ts';
import { type Connection, createConnection, type HostLog } from './ssh/connection.ts';
import { createFiles } from './ssh/files.ts';
import { knownHosts } from './ssh/known-hosts.ts';
import { type SshLimits, USUAL_LIMITS } from './ssh/limits.ts';
import { createProcesses } from './ssh/processes.ts';
import { createRun } from './ssh/run.ts';
import { sendFolder } from './ssh/send-folder.ts';

export interface SshHost extends Host {
  /** Brings a folder of this machine there, as one stream. Nothing may be at `path`; it appears when it is whole. */
  sendFolder(localFolder: string, path: string): Promise<void>;
}

export interface SshHosts {
  host(identity: SshIdentity): SshHost;
  /** Ends all connections; what runs on them fails with `HostAway`. */
  close(): void;
}

function hostOver(connection: Connection): SshHost {
  const commands = { run: createRun(connection) };
  return {
    ...commands,
    launch: () =>
      Promise.reject(new Error('What is to outlive the service on another machine is started by its scheduler.')),
    ...createProcesses(commands, connection.name),
    ...createFiles(commands, connection.name),
    sendFolder: (localFolder, path) => sendFolder(commands, connection.name, localFolder, path),
  };
}

export function sshHosts(options: { knownHosts: string; log: HostLog; limits?: Partial<SshLimits> }): SshHosts {
  const parts = {
    known: knownHosts(options.knownHosts),
    limits: { ...USUAL_LIMITS, ...options.limits },
    log: options.log,
  };
  const all = new Map<string, { connection: Connection; host: SshHost }>();
  return {
    host(identity) {
      const id = JSON.stringify([identity.host, identity.username, identity.keyPath]);
      let known = all.get(id);
      if (known === undefined) {
        const connection = createConnection(identity, parts);
        known = { connection, host: hostOver(connection) };
        all.set(id, known);
      }
      return known.host;
    },
    close() {
      for (const { connection } of all.values()) connection.close();
    },
  };
}
