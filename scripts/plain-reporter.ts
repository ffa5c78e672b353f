/**
 * Ends a test run with plain lines that any tool can read: one for each test that failed, with the first line of its
 * error, then the sum: `12 passed, 0 failed, 1 skipped`.
 */
import type { Reporter, TestModule } from 'vitest/node';

type Told = { readonly message: string };

const firstLine = (errors: readonly Told[] | undefined): string =>
  errors?.[0]?.message.split('\n')[0] ?? 'no error told';

export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const failed = (module: TestModule, name: string, errors: readonly Told[] | undefined): void => {
      counts.failed++;
      console.log(`failed: ${module.project.name}, ${module.relativeModuleId}${name}: ${firstLine(errors)}`);
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
