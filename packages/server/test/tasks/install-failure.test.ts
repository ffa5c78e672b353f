/** What pip, uv and pixi print when an installation fails, as they printed it, and what of it people are told. */
import { describe, expect, it } from 'vitest';

import { installFailure } from '../../src/tasks/procedures/install-failure.ts';

const UV_PYTHON = `Using Python 3.11.7 environment at: v311
error: No solution found when resolving dependencies
  cause: Because the current Python version (3.11.7) does not satisfy Python>=3.12 and needs-new==1.0 depends on Python>=3.12, we can conclude that needs-new==1.0 cannot be used.
         And because only needs-new==1.0 is available and you require needs-new, we can conclude that your requirements are unsatisfiable.
`;

const UV_PYTHON_DRAWN = `  × No solution found when resolving dependencies:
  ╰─▶ Because the current Python version (3.11.7) does not satisfy
      Python>=3.12 and needs-new==1.0 depends on Python>=3.12, we can
      conclude that needs-new==1.0 cannot be used.
      And because only needs-new==1.0 is available and you require
      needs-new, we can conclude that your requirements are unsatisfiable.
`;

const UV_CONFLICT = `Using Python 3.11.7 environment at: v311
error: No solution found when resolving dependencies
  cause: Because pandas>=3.0.0rc0,<=3.0.0rc1 depends on numpy>=1.26.0 and all of:
             pandas>=3.0.0rc2,<=3.0.3
             pandas>=3.0.5,<=3.0.6
         depend on numpy{python_full_version < '3.14'}>=1.26.0, we can conclude that all of:
             pandas>=3.0.0rc0,<=3.0.3
             pandas>=3.0.5,<=3.0.6
         depend on numpy>=1.26.0.
         And because pandas>=2.2.2,<=2.3.3 depends on numpy{python_full_version < '3.12'}>=1.23.2 and pandas==3.0.4 was yanked (reason: Reported segfaults with datetime-related functionality), we can conclude that pandas>=2.2.0 depends on numpy>=1.23.2.
         And because conflict==1.0 depends on numpy<1.20 and pandas>=2.2, we can conclude that conflict==1.0 cannot be used.
         And because only conflict==1.0 is available and you require conflict, we can conclude that your requirements are unsatisfiable.
`;

const UV_BUILD = `Resolved 2 packages in 3.22s
   Building pyodbc==3.0.7
error: Failed to build \`pyodbc==3.0.7\`
  cause: The build backend returned an error
  cause: Call to \`setuptools.build_meta:__legacy__.build_wheel\` failed (exit status: 1)

         [stderr]
         /src/src/pyodbc.h:52:10: fatal error: sql.h: No such file or directory
            52 | #include <sql.h>
         compilation terminated.
         error: Command '['g++', '-c']' returned non-zero exit status 1.

hint: \`pyodbc\` (v3.0.7) was included because \`broken-sdist\` (v1.0) depends on \`pyodbc\`

hint: This error likely indicates that you need to install a library that provides \`sql.h\` for \`pyodbc@3.0.7\`
`;

const PIP_CONFLICT = `ERROR: Cannot install conflict==1.0 because these package versions have conflicting dependencies.

The conflict is caused by:
    conflict 1.0 depends on numpy<1.20
    pandas 3.1.1 depends on numpy>=2.0.2; python_version < "3.14"
    conflict 1.0 depends on numpy<1.20
    pandas 3.1.0 depends on numpy>=2.0.2; python_version < "3.14"

To fix this you could try to:
1. loosen the range of package versions you've specified
2. remove package versions to allow pip attempt to solve the dependency conflict

ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/
`;

const PIP_BUILD = `  error: subprocess-exited-with-error

  × Building wheel for pyodbc (pyproject.toml) did not run successfully.
  │ exit code: 1
  ╰─> [24 lines of output]
      /tmp/pyodbc/src/pyodbc.h:52:10: fatal error: sql.h: No such file or directory
      [end of output]

  note: This error originates from a subprocess, and is likely not a problem with pip.
  ERROR: Failed building wheel for pyodbc
Failed to build pyodbc
ERROR: Could not build wheels for pyodbc, which is required to install pyproject.toml-based projects
`;

const PIXI = `Error:   × failed to solve requirements of environment 'default' for platform 'linux-64'
  ├─▶   × failed to solve the environment
  │
  ╰─▶ Cannot solve the request because of: No candidates were found for
      nosuchpackage ==1.0.
`;

const AGAIN = 'Choose another version of the package, or pin other versions.';

describe('the cause of a failed installation', () => {
  it.each([
    ['uv, another Python', UV_PYTHON, /^needs-new 1\.0 requires Python >=3\.12, and this environment has 3\.11\.7\. /],
    ['an earlier uv', UV_PYTHON_DRAWN, /^needs-new 1\.0 requires Python >=3\.12, and this environment has 3\.11\.7\. /],
    [
      'pip, another Python',
      "INFO: pip is looking\nERROR: Package 'needs-new' requires a different Python: 3.11.7 not in '>=3.12'\n",
      /^needs-new requires Python >=3\.12, and this environment has 3\.11\.7\. /,
    ],
    [
      'uv, a conflict',
      UV_CONFLICT,
      `No solution: pandas>=2.2.0 needs numpy>=1.23.2; conflict 1.0 needs numpy<1.20 and pandas>=2.2. ${AGAIN}`,
    ],
    [
      'pip, a conflict',
      PIP_CONFLICT,
      `No solution: conflict 1.0 needs numpy<1.20; pandas 3.1.1 needs numpy>=2.0.2; python_version < "3.14". ${AGAIN}`,
    ],
    [
      'uv, a package that does not exist',
      'error: No solution found when resolving dependencies\n  cause: Because nobody-has-it was not found in the package registry and x==1.0 depends on nobody-has-it, we can conclude that x==1.0 cannot be used.\n         And because only x==1.0 is available and you require x, we can conclude that your requirements are unsatisfiable.\n',
      `No solution: nobody-has-it was not found in the package registry and x 1.0 needs nobody-has-it. ${AGAIN}`,
    ],
    [
      'uv, a version that does not exist',
      'error: No solution found when resolving dependencies\n  cause: Because there is no version of numpy==9.9 and you require numpy==9.9, we can conclude that your requirements are unsatisfiable.\n',
      `No solution: there is no version of numpy 9.9 and you require numpy 9.9. ${AGAIN}`,
    ],
    [
      'pip, a package that does not exist',
      'ERROR: Could not find a version that satisfies the requirement nobody-has-it (from x) (from versions: none)\nERROR: No matching distribution found for nobody-has-it\n',
      /^nobody-has-it, which x needs, was not found\. /,
    ],
    [
      'pip, a version for another Python',
      'ERROR: Ignored the following versions that require a different python version: 1.21.2 Requires-Python >=3.7,<3.11; 2.5.0 Requires-Python >=3.12\nERROR: Could not find a version that satisfies the requirement numpy==2.5.0 (from versions: 1.3.0, 2.4.0)\nERROR: No matching distribution found for numpy==2.5.0\n',
      /^numpy 2\.5\.0 requires Python >=3\.12\. /,
    ],
    [
      'uv, a build',
      UV_BUILD,
      /^pyodbc 3\.0\.7 could not be built: fatal error: sql\.h: No such file.*provides `sql\.h`/,
    ],
    ['pip, a build', PIP_BUILD, 'pyodbc could not be built: fatal error: sql.h: No such file or directory'],
    ['pixi', PIXI, /failed to solve the environment.*: No candidates were found for/],
  ])('%s', (_, printed, expected) => {
    const words = installFailure(printed);
    if (typeof expected === 'string') expect(words).toBe(expected);
    else expect(words).toMatch(expected);
  });

  it.each([[''], ['tar: not found'], ['ERROR: Read timed out.'], ['error: unexpected argument']])(
    'is not guessed from %j',
    (printed) => {
      expect(installFailure(printed)).toBeUndefined();
    },
  );

  it('is found quickly in megabytes of anything', () => {
    for (const piece of ['Because ', 'depends on ', ', we can conclude that ', 'error: cause: ', '(from x) (from '])
      expect(installFailure(`No solution found when resolving dependencies: ${piece.repeat(20_000)}`)).not.toBe('');
  });
});
