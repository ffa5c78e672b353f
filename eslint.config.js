import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/**
 * What handles an event has no caller who could catch what it throws, and Node would end the process. So handlers go through
 * `guarded` (packages/server/src/guard.ts), which is told what fails instead. `resolve` and `reject` throw nothing.
 */
const UNGUARDED = ':not([NUMBER.callee.name="guarded"]):not([NUMBER.name=/^(resolve|reject|ignored|guarded\\w*)$/])';
const unguarded = (argument) => UNGUARDED.replaceAll('NUMBER', `arguments.${argument}`);
const LISTENS = '/^(on|once|addListener|prependListener|prependOnceListener|addEventListener)$/';
const message = 'What this throws would end the process: give it through `guarded` (packages/server/src/guard.ts).';
const GUARDED_HANDLERS = [
  {
    // conditions of a join in SQL have the same name, and an operator as their second word
    selector: `CallExpression[callee.property.name=${LISTENS}][arguments.length>1][arguments.1.type!="Literal"]${unguarded(1)}`,
    message,
  },
  {
    selector: `CallExpression[callee.name=/^(setTimeout|setInterval|setImmediate|queueMicrotask)$/]${unguarded(0)}`,
    message,
  },
  { selector: `CallExpression[callee.property.name=/^(nextTick|setImmediate)$/]${unguarded(0)}`, message },
  { selector: `CallExpression[callee.name=/^(watch|watchFile)$/]${unguarded(1)}`, message },
  {
    selector: 'CallExpression[callee.property.name="pipe"]',
    message: 'Errors of a stream that is piped are heard nowhere: use `pipeline` of node:stream/promises.',
  },
];

/** What ESLint alone can read. All other TypeScript is in .oxlintrc.json: the same rules, natively and in a tenth of the time. */
const SVELTE = ['**/*.svelte', '**/*.svelte.ts'];
const SCRIPTS = ['**/*.cjs', '**/*.js', '**/*.mjs'];

export default tseslint.config(
  { ignores: ['**/node_modules', '**/dist', '**/build', '**/.svelte-kit', 'data', 'test-results'] },
  {
    files: SVELTE,
    extends: [js.configs.recommended, tseslint.configs.recommended, svelte.configs.recommended],
    languageOptions: {
      globals: globals.browser,
      parserOptions: { parser: tseslint.parser, extraFileExtensions: ['.svelte'] },
    },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_$' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      complexity: ['error', 14],
      'max-lines': ['error', { max: 450, skipBlankLines: true, skipComments: true }],
      'prefer-const': 'off',
      'svelte/prefer-const': 'error',
      // the client lives at the root of its origin, so that links are what they look like
      'svelte/no-navigation-without-resolve': 'off',
    },
  },
  {
    files: ['packages/server/src/**/*.ts'],
    ignores: ['packages/server/src/cli/**'],
    languageOptions: { parser: tseslint.parser },
    // comments that let something pass are about rules of oxlint
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    rules: { 'no-restricted-syntax': ['error', ...GUARDED_HANDLERS] },
  },
  {
    files: SCRIPTS,
    extends: [js.configs.recommended],
    languageOptions: { globals: globals.node },
    rules: { 'no-unused-vars': ['error', { caughtErrors: 'none' }] },
  },
);
