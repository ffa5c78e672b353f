import { describe, expect, test } from 'vitest';

import { readDataset, readTemplate, readWorkflow } from '../../src/lib/projects/files.ts';
import { folderPreview, subfolderProblem } from '../../src/lib/projects/folders.ts';
import { uploadProblem } from '../../src/lib/api/upload.ts';
import { writeJson } from '../../src/lib/json.ts';

const WORKFLOW =
  '{"name": "Nuclei", "task_list": [{"task": {"pkg_name": "p", "name": "t"}, "args_parallel": {"s": 1.0}}]}';

describe('files', () => {
  test('numbers of a workflow stay as they are written', () => {
    const file = readWorkflow(WORKFLOW);
    expect('value' in file && writeJson(file.value)).toContain('{"s":1.0}');
  });

  test('broken JSON is told with its place', () => {
    expect(readWorkflow('{"name": }')).toEqual({
      problem: 'This file is not valid JSON. Line 1, column 10: expected a value.',
    });
    expect(readDataset('[]')).toEqual({ problem: 'This file is JSON, but not an exported object.' });
  });

  test.each([
    [readWorkflow, '{"zarr_dir": "/a", "images": []}', 'This file holds a dataset. Import it with New dataset.'],
    [
      readWorkflow,
      `{"name": "T", "version": 1, "data": ${WORKFLOW}}`,
      'This file holds a template. Import it on the page Templates.',
    ],
    [readDataset, WORKFLOW, 'This file holds a workflow. Import it with New workflow.'],
    [readTemplate, '{"zarr_dir": "/a"}', 'This file holds a dataset. Import it with New dataset.'],
    [readTemplate, '{"a": 1}', 'This file was not exported from here.'],
    [readWorkflow, '{"task_list": [{"args": 1}]}', 'A task of this workflow does not say which task it is.'],
  ])('a file of something else says where it belongs (%#)', (read, text, problem) => {
    expect(read(text)).toEqual({ problem });
  });

  test('a template keeps its version, a workflow becomes the first one', () => {
    const template = readTemplate(`{"name": "T", "version": 3, "description": "d", "data": ${WORKFLOW}}`);
    expect(template).toMatchObject({ value: { name: 'T', version: '3', description: 'd', isWorkflow: false } });
    expect(readTemplate(WORKFLOW)).toMatchObject({ value: { name: 'Nuclei', version: '1', isWorkflow: true } });
  });

  test('a file that is too large is told with its size', () => {
    expect(uploadProblem({ status: 413, text: '' }, 30_000_000).message).toMatch(/^This file has 30 MB, more than/);
    expect(uploadProblem({ status: 422, text: '{"detail":"No."}' }, 5).message).toBe('No.');
  });
});

describe('folders', () => {
  const project = { id: 3, name: 'Screen 7.b' };

  test('the folder that the service chooses', () => {
    const path = folderPreview({ base: '/data/anna/', subfolder: '', project, name: 'Plate A' });
    expect(path).toBe('/data/anna/fractal/3_screen_7_b/‹number›_plate_a');
  });

  test('a folder of the reader’s own', () => {
    expect(folderPreview({ base: '/data', subfolder: ' a//b/./c/ ', project, name: 'x' })).toBe('/data/a/b/c');
    expect(folderPreview({ base: 's3://bucket/key', subfolder: 'a', project, name: 'x' })).toBe('s3://bucket/key/a');
  });

  test('it lies below the project folder', () => {
    expect(subfolderProblem('/a')).toMatch(/without \/ in front/);
    expect(subfolderProblem('a/../b')).toMatch(/without "\.\."/);
    expect(subfolderProblem('a/b')).toBeUndefined();
  });
});
