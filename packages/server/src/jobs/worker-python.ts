/** The interpreter that runs the workers of a resource on this machine: the default one of its tasks. */
import type { Resource } from '@service/contract';

export function workerPython(resource: Resource | undefined): string {
  const config = resource?.tasks_python_config as { default_version?: string; versions?: Record<string, string> };
  return config?.versions?.[config.default_version ?? ''] ?? 'python3';
}
