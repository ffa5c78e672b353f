/** Which arguments name something in the data, and what is offered for them. */
import { describe, expect, test } from 'vitest';

import { madeBy } from '#lib/form/made.ts';
import { type Meaning, meaningOf, meaningOfKeys, type Surroundings, wantedBy } from '#lib/form/meaning.ts';
import { type DataNames, notFound, suggestionsFor } from '#lib/form/names.ts';

const wordsOf = (meaning: Meaning | undefined) => (meaning?.of === 'value' ? `a ${meaning.attribute}` : meaning?.of);

describe('what an argument means', () => {
  /** Every text and whole number in the arguments of fractal-tasks-core 2.1.0 that could be taken for a name. */
  const CORE: [place: string, around: Surroundings, meaning: string | undefined][] = [
    // Project Image
    ['method', {}, undefined],
    ['output_plate_name', { default: '{plate_name}_{method}' }, undefined],
    ['output_image_name', { default: '{image_name}_{method}' }, undefined],
    // Illumination Correction
    ['illumination_profiles/folder', { beside: { model: 'Profile' } }, undefined],
    ['input_roi_table', { default: 'FOV_ROI_table' }, 'ROI table'],
    // Threshold Segmentation
    ['channel/mode', {}, undefined],
    ['channel/identifier', { beside: { mode: 'label' } }, 'channel label'],
    ['channel/identifier', { beside: { mode: 'wavelength_id' } }, 'wavelength'],
    ['channel/identifier', { beside: { mode: 'index' } }, undefined],
    ['channel/identifier', { beside: { mode: null, skip_if_missing: false } }, 'channel'],
    ['output_label_name', { default: '{channel_identifier}_segmented' }, undefined],
    ['level_path', { default: null }, undefined],
    ['iterator_configuration/masking/masking_source', {}, undefined],
    [
      'iterator_configuration/masking/identifier',
      { beside: { mode: 'Masking', masking_source: 'Table Name' } },
      'masking ROI table',
    ],
    [
      'iterator_configuration/masking/identifier',
      { beside: { mode: 'Masking', masking_source: 'Label Name' } },
      'label image',
    ],
    ['iterator_configuration/roi_table', { default: null }, 'ROI table'],
    ['create_masking_roi_table/table_name', { default: '{output_label_name}_masking_ROI_table' }, undefined],
    ['create_masking_roi_table/table_backend', { default: 'csv' }, undefined],
    // Measure Features
    ['input_label_name', {}, 'label image'],
    ['output_table_name', { default: 'region_props_features' }, undefined],
    ['features/channels/identifier', { beside: { mode: 'label', identifier: 'DAPI' } }, 'channel label'],
    ['advanced_options/level_path', { default: null }, undefined],
    ['advanced_options/table_backend', { default: 'parquet' }, undefined],
    // registration
    ['reference_acquisition', { default: 0 }, 'a acquisition'],
    ['wavelength_id', {}, 'wavelength'],
    ['registered_roi_table', { default: '{input_roi_table}_registered' }, undefined],
    ['registered_roi_table', {}, 'ROI table'],
    // Import OME-Zarr
    ['zarr_name', {}, undefined],
    ['advanced_options/grid_roi_table/grid_y_shape', { default: 2 }, undefined],
    ['advanced_options/add_image_roi_table', { default: false }, undefined],
  ];

  /** As other packages and versions spell them. */
  const OTHERS: [place: string, around: Surroundings, meaning: string | undefined][] = [
    ['channel', {}, 'channel'],
    ['channels', {}, 'channel'],
    ['channel_name', {}, 'channel'],
    ['channel_label', {}, 'channel label'],
    ['channel/label', {}, 'channel label'],
    ['channel/wavelength_id', {}, 'wavelength'],
    ['channels/wavelength_id', {}, 'wavelength'],
    ['allowed_channels/label', {}, 'channel label'],
    ['input_specs/channel/wavelength_id', {}, 'wavelength'],
    ['input_specs/label_name', {}, 'label image'],
    ['output_specs/label_name', {}, undefined],
    ['label_name', {}, 'label image'],
    ['label_names', {}, 'label image'],
    ['input_label', {}, 'label image'],
    ['label_image_name', {}, 'label image'],
    ['labelName', {}, 'label image'],
    ['input_ROI_table', {}, 'ROI table'],
    ['inputROITable', {}, 'ROI table'],
    ['masking_roi_table', {}, 'masking ROI table'],
    ['table_name', {}, 'table'],
    ['tables_to_copy', {}, undefined],
    ['feature_table', {}, 'table'],
    ['well', {}, 'a well'],
    ['wells', {}, 'a well'],
    ['well_name', {}, 'a well'],
    ['plate', {}, 'a plate'],
    ['plate_name', {}, 'a plate'],
    ['attribute', {}, 'attribute'],
    ['group_by_attribute', {}, 'attribute'],
    ['new_channel_name', {}, undefined],
    ['labelling_speed', {}, undefined],
    ['constructor', {}, undefined],
    ['', {}, undefined],
  ];

  test.each([...CORE, ...OTHERS])('%s with %j is %s', (place, around, meaning) => {
    expect(wordsOf(meaningOf(place.split('/'), around))).toBe(meaning);
  });

  test.each([
    ['Dictionary where keys match the "wavelength_id" attributes of existing channels\n(e.g. "A01_C01")', 'wavelength'],
    ['The key is the name of a channel, the value its weight.', 'channel'],
    ['Keys are label names.', 'label image'],
    ['Extra arguments of the model, by keyword.', undefined],
    [undefined, undefined],
  ])('names of entries that are described as "%s" are %s', (description, meaning) => {
    expect(meaningOfKeys(description)?.of).toBe(meaning);
  });

  test('a schema is asked for what it has use for, wherever that is in it', () => {
    const channel = { properties: { mode: {}, identifier: { type: 'string' } } };
    const nested = { $defs: { Channel: channel }, properties: { sigma: { type: 'number' } } };
    expect(wantedBy(nested)).toEqual({ contents: true, attributes: false });
    expect(wantedBy({ properties: { wells: { items: {} } } })).toEqual({ contents: false, attributes: true });
    expect(wantedBy({ properties: { sigma: { type: 'number' } } })).toEqual({ contents: false, attributes: false });
    expect(wantedBy(null)).toEqual({ contents: false, attributes: false });
  });
});

const NAMES: DataNames = {
  contents: {
    channels: [
      { label: 'DAPI', wavelength_id: 'A01_C01' },
      { label: 'GFP', wavelength_id: null },
      { label: null, wavelength_id: 'A02_C02' },
    ],
    labels: ['nuclei', 'cells'],
    tables: [
      { name: 'FOV_ROI_table', type: 'roi_table' },
      { name: 'nuclei_masks', type: 'masking_roi_table' },
      { name: 'features', type: 'feature_table' },
      { name: 'old_ROI_table', type: null },
    ],
  },
  attributes: { well: ['B10', 'B2', 'A01'], plate: ['P1'], acquisition: [0, 1] },
};

describe('what is offered', () => {
  const offered = (meaning: Meaning) => suggestionsFor(meaning, NAMES).map(({ value, note }) => [value, note]);

  test.each<[Meaning, unknown[]]>([
    [
      { of: 'channel' },
      [
        ['A01_C01', 'DAPI'],
        ['A02_C02', undefined],
        ['DAPI', 'A01_C01'],
        ['GFP', undefined],
      ],
    ],
    [
      { of: 'channel label' },
      [
        ['DAPI', 'A01_C01'],
        ['GFP', undefined],
      ],
    ],
    [
      { of: 'wavelength' },
      [
        ['A01_C01', 'DAPI'],
        ['A02_C02', undefined],
      ],
    ],
    [
      { of: 'label image' },
      [
        ['cells', undefined],
        ['nuclei', undefined],
      ],
    ],
    [
      { of: 'ROI table' },
      [
        ['FOV_ROI_table', 'ROIs'],
        ['nuclei_masks', 'masking ROIs'],
        ['old_ROI_table', undefined],
      ],
    ],
    [{ of: 'masking ROI table' }, [['nuclei_masks', 'masking ROIs']]],
    [
      { of: 'attribute' },
      [
        ['acquisition', undefined],
        ['plate', undefined],
        ['well', undefined],
      ],
    ],
    [
      { of: 'value', attribute: 'well' },
      [
        ['A01', undefined],
        ['B2', undefined],
        ['B10', undefined],
      ],
    ],
    [
      { of: 'value', attribute: 'acquisition' },
      [
        ['0', undefined],
        ['1', undefined],
      ],
    ],
    [{ of: 'value', attribute: 'constructor' }, []],
  ])('for %j', (meaning, expected) => {
    expect(offered(meaning)).toEqual(expected);
  });

  test('is nothing while nothing is known', () => {
    expect(suggestionsFor({ of: 'channel' }, undefined)).toEqual([]);
    expect(suggestionsFor({ of: 'channel' }, {})).toEqual([]);
    expect(suggestionsFor(undefined, NAMES)).toEqual([]);
  });
});

describe('a value that the dataset does not have', () => {
  const said = (text: string, meaning: Meaning) => notFound(text, meaning, suggestionsFor(meaning, NAMES));

  test.each<[string, Meaning, string | undefined, string | undefined]>([
    ['DAPI', { of: 'channel label' }, undefined, undefined],
    ['', { of: 'channel label' }, undefined, undefined],
    ['DPI', { of: 'channel label' }, 'No channel “DPI” in this dataset.', 'DAPI'],
    ['dapi', { of: 'channel label' }, 'No channel “dapi” in this dataset.', 'DAPI'],
    // by its other name
    ['A01_C01', { of: 'channel label' }, 'No channel “A01_C01” in this dataset.', 'DAPI'],
    ['tubulin', { of: 'channel label' }, 'No channel “tubulin” in this dataset.', undefined],
    ['A03_C03', { of: 'wavelength' }, 'No wavelength ID “A03_C03” in this dataset.', undefined],
    ['nucleus', { of: 'label image' }, 'No label image “nucleus” in this dataset yet.', 'nuclei'],
    ['FOV_ROI', { of: 'ROI table' }, 'No ROI table “FOV_ROI” in this dataset yet.', 'FOV_ROI_table'],
    ['A1', { of: 'value', attribute: 'well' }, 'No well “A1” in this dataset.', 'A01'],
  ])('%s as %j', (text, meaning, expected, instead) => {
    expect(said(text, meaning)?.text).toBe(expected);
    expect(said(text, meaning)?.instead).toBe(instead);
  });
});

describe('what earlier tasks will make', () => {
  /** As in fractal-tasks-core: a name with a part to be filled in, and one that is made only where it is asked for. */
  const SEGMENTATION = {
    type: 'parallel' as const,
    args_schema_version: 'pydantic_v2',
    args_schema_non_parallel: null,
    args_schema_parallel: {
      type: 'object',
      properties: {
        channel: {
          type: 'object',
          properties: { mode: { type: 'string', default: 'label' }, identifier: { type: 'string' } },
        },
        input_roi_table: { type: 'string', default: 'FOV_ROI_table' },
        output_label_name: { type: 'string', default: '{channel_identifier}_segmented' },
        create_masking_roi_table: {
          anyOf: [{ $ref: '#/$defs/Masking' }, { type: 'null' }],
          default: null,
        },
      },
      $defs: {
        Masking: {
          type: 'object',
          properties: { table_name: { type: 'string', default: '{output_label_name}_masking_ROI_table' } },
        },
      },
    },
  };
  const made = (args_parallel: object, schemas = SEGMENTATION) =>
    madeBy({ schemas, values: { args_parallel } }, 2).map(({ of, name, task }) => [of, name, task]);

  test.each<[string, object, unknown[]]>([
    ['nothing is known of the channel', {}, []],
    ['the default is filled in', { channel: { identifier: 'DAPI' } }, [['label image', 'DAPI_segmented', 2]]],
    ['a name of its own', { output_label_name: 'nuclei' }, [['label image', 'nuclei', 2]]],
    [
      'a table beside it, named after it',
      { output_label_name: 'nuclei', create_masking_roi_table: {} },
      [
        ['label image', 'nuclei', 2],
        ['masking ROI table', 'nuclei_masking_ROI_table', 2],
      ],
    ],
    ['names that turn in circles', { output_label_name: '{output_label_name}' }, []],
  ])('%s', (_, args, expected) => expect(made(args)).toEqual(expected));

  test('a task without a schema says it by the names of its arguments', () => {
    const free = { ...SEGMENTATION, args_schema_version: null as never, args_schema_parallel: null as never };
    const args = { output_table_name: 'features', new_channel: { wavelength_id: 'A09_C01' }, input_label: 'nuclei' };
    expect(made(args, free)).toEqual([
      ['table', 'features', 2],
      ['wavelength', 'A09_C01', 2],
    ]);
  });

  test('they are offered beside what the dataset has, which comes first where both have it', () => {
    const names: DataNames = {
      ...NAMES,
      made: [
        { of: 'label image', name: 'nuclei', task: 1 },
        { of: 'label image', name: 'organelles', task: 2 },
        { of: 'masking ROI table', name: 'organelle_masks', task: 2 },
      ],
    };
    expect(suggestionsFor({ of: 'label image' }, names)).toEqual([
      { value: 'cells' },
      { value: 'nuclei' },
      { value: 'organelles', note: 'from task 2' },
    ]);
    expect(suggestionsFor({ of: 'masking ROI table' }, names).map(({ value }) => value)).toEqual([
      'nuclei_masks',
      'organelle_masks',
    ]);
    expect(suggestionsFor({ of: 'label image' }, { made: names.made })).toHaveLength(2);
  });
});
