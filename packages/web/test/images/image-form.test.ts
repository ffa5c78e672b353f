import { describe, expect, it } from 'vitest';

import { STATUS_KEY } from '../../src/lib/images/filters.ts';
import { parseJson, writeJson } from '../../src/lib/json.ts';
import { statusCsv } from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/status-list.ts';
import {
  attributeProblems,
  formOf,
  newAttribute,
  newType,
  readForm,
} from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/image-form.ts';

const DIR = '/data/plates';

const withUrl = (url: string) => readForm({ ...formOf(undefined, DIR), url }, DIR, true).problems['url'];

describe('the path of a new image', () => {
  it('begins with the folder of the dataset and lies inside it', () => {
    expect(formOf(undefined, DIR).url).toBe('/data/plates/');
    expect(withUrl('/data/plates/')).toBe('Enter the path of the image.');
    expect(withUrl('/data/platesX/a.zarr')).toBe('The image must be inside /data/plates.');
    expect(withUrl('/data/plates/a.zarr/')).toBe('Leave out the slash at the end.');
    expect(withUrl(' /data/plates/a.zarr ')).toBeUndefined();
  });
});

describe('attributes', () => {
  it('need names that differ', () => {
    const lines = [newAttribute('well', 'A01'), newAttribute(' well ', 'A02'), newAttribute('', 'x')];
    expect(Object.values(attributeProblems(lines))).toEqual([
      'There is another attribute well. Keep one of them.',
      'Name the attribute, or remove this line.',
    ]);
  });

  it('take numbers only where a number is wanted', () => {
    const line = { ...newAttribute('cycle'), kind: 'number' as const };
    expect(Object.values(attributeProblems([{ ...line, text: '' }]))).toEqual(['Enter a number.']);
    expect(Object.values(attributeProblems([{ ...line, text: '1e' }]))).toEqual([
      '1e is not a number. Enter one such as -3 or 0.5.',
    ]);
    expect(attributeProblems([{ ...line, text: ' -3 ' }])).toEqual({});
  });

  it('keep a negative number when its kind is changed and changed back', () => {
    const line = newAttribute('offset', -3);
    line.kind = 'text';
    line.kind = 'flag';
    line.kind = 'number';
    expect(readForm({ url: `${DIR}/a`, attributes: [line], types: [] }, DIR, false).attributes).toEqual({ offset: -3 });
  });

  it('go back as they came, without the status', () => {
    const attributes = parseJson('{"size": 1.0, "large": 12345678901234567890, "well": "A01", "kept": true}') as object;
    const image = {
      zarr_url: `${DIR}/a`,
      origin: null,
      attributes: { ...attributes, [STATUS_KEY]: 'done' },
      types: { is_3D: false },
    };
    const read = readForm(formOf(image, DIR), DIR, false);
    expect(read.problems).toEqual({});
    expect(writeJson(read.attributes)).toBe('{"well":"A01","kept":true,"large":12345678901234567890,"size":1.0}');
    expect(read.types).toEqual({ is_3D: false });
  });
});

it('types need names that differ, and may be called as an attribute is', () => {
  const form = {
    url: `${DIR}/a`,
    attributes: [newAttribute('well', 'A01')],
    types: [newType('well'), newType('is_3D'), newType('is_3D', false)],
  };
  expect(Object.values(readForm(form, DIR, true).problems)).toEqual(['There is another type is_3D. Keep one of them.']);
});

it('a list by status is written with what went wrong', () => {
  const image = {
    zarr_url: '/data/a',
    origin: null,
    attributes: { well: 'A01', note: 'a, "b"', [STATUS_KEY]: 'failed' },
    types: { is_3D: true },
    unit: null,
  };
  expect(statusCsv([image], { well: [], note: [], [STATUS_KEY]: [] }, ['is_3D'])).toBe(
    'zarr_url,status,message,well,note,is_3D\r\n/data/a,Failed,,A01,"a, ""b""",true\r\n',
  );
});

it('the file of a list by status runs no formula, and knows an attribute of any name', () => {
  const image = {
    zarr_url: '/data/a',
    origin: null,
    attributes: { [STATUS_KEY]: 'failed', '=1+1': '@SUM(A1)', size: -1.5 },
    types: {},
  };
  const columns = { '=1+1': [], constructor: [], size: [] };
  expect(statusCsv([image], columns, ['toString'])).toBe(
    "zarr_url,status,message,'=1+1,constructor,size,toString\r\n/data/a,Failed,,'@SUM(A1),,-1.5,\r\n",
  );
});
