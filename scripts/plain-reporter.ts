/**
 * Ends a test run with plain lines that any tool can read: one for each test that failed, with the first line of its
 * error, what a browser waited for and the line of the test, then the sum: `12 passed, 0 failed, 1 skipped`.
 */
import type { Reporter, TestModule } from 'vitest/node';

type Told = { readonly message: string; readonly stacks?: readonly { readonly file: string; readonly line: number }[] };

// eslint-disable-next-line no-control-regex -- that is what colours are
const COLOURS = /\u001b\[\d+m/g;

/** A browser's first line says that it waited, the ones behind it for what. */
const waitedFor = (lines: readonly string[]): string => {
  const at = lines.findIndex((line) => line.trim() === 'Call log:');
  return at < 0 || lines.length <= at + 1 ? '' : ` (${lines[at + 1]!.trim().replace(/^- /, '')})`;
};

const inTest = (error: Told | undefined): string => {
  const place = error?.stacks?.find(({ file }) => file.endsWith('.test.ts'));
  return place === undefined ? '' : ` [line ${place.line}]`;
};

function told(errors: readonly Told[] | undefined): string {
  const lines = errors?.[0]?.message.replaceAll(COLOURS, '').split('\n') ?? ['no error told'];
  return lines[0]! + waitedFor(lines) + inTest(errors?.[0]);
}

export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const failed = (module: TestModule, name: string, errors: readonly Told[] | undefined): void => {
      counts.failed++;
      console.log(`failed: ${module.project.name}, ${module.relativeModuleId}${name}: ${told(errors)}`);
    };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'failed') failed(module, ` > ${test.fullName}`, errors);
        else if (state !== 'pending') counts[state]++;
      }
      if (module.state() === 'failed' && module.errors().length > 0) failed(module, '', module.errors());
    }
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}
