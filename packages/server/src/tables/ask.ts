/** What the service asks of the process that reads tables. Plain data: it goes from process to process. */
import type { TableProblem } from '@service/contract';

export type Value = string | number | boolean;

/** An image, or a plate, that tables lie beside. */
export interface AskedImage {
  zarr_url: string;
  attributes: Record<string, Value>;
  /** The folder of its plate, and its place there, `B/03/0`; null where its address does not tell. */
  plate: string | null;
  place: string | null;
}

interface Images {
  images: AskedImage[];
  /** What is known of some images before anything is read. */
  problems: TableProblem[];
}

export interface Selection extends Images {
  table: string;
  ranges: { column: string; from?: number | undefined; to?: number | undefined }[];
  values: { column: string; values: Value[] }[];
  /** Only these objects: labels of each image. */
  objects: { zarr_url: string; labels: Value[] }[] | undefined;
  /** Undefined: all. */
  columns: string[] | undefined;
}

export interface ListAsk extends Images {
  kind: 'list';
  plates: AskedImage[];
}

export interface PageAsk extends Selection {
  kind: 'page';
  sort: { column: string; descending: boolean } | undefined;
  page: number;
  page_size: number;
}

export interface ColumnsAsk extends Selection {
  kind: 'columns';
  precision: 'full' | 'single';
}

export interface ExportAsk extends Selection {
  kind: 'csv' | 'parquet';
}

export interface GroupsAsk extends Selection {
  kind: 'groups';
  of: string[];
  by: string[];
}

/** What is beside these images, by name. */
export interface ContentsAsk {
  kind: 'contents';
  images: string[];
}

export type Ask = ContentsAsk | ListAsk | PageAsk | ColumnsAsk | ExportAsk | GroupsAsk;
