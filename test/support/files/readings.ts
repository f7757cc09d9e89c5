import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import type { NewCell } from '../../../shared/cell.ts';
import { Random } from '../random.ts';
import { randomRowKey } from '../row-key.ts';

interface ReadingsOptions {
  readonly cells: number;
  /** The cells are spread over so many rows at random; each row's ref keys go up with its lines. */
  readonly rows: number;
  readonly seed: string;
}

/** Yields the cells of a file of meter readings, in the order of its lines. */
export function* readings({ cells, rows, seed }: ReadingsOptions): Generator<NewCell> {
  const random = new Random(seed, 'readings', 0);
  const meters = Array.from({ length: rows }, () => ({ row_key: randomRowKey(random), ref_key: 0 }));
  for (let position = 0; position < cells; position += 1) {
    const meter = meters[Math.floor(random.next() * rows)];
    if (!meter) continue;
    const body = {
      at: new Date(1_700_000_000_000 + position * 1000).toISOString(),
      value: Math.round(random.next() * 1e6) / 100,
      unit: 'kWh',
      status: ['ok', 'late', 'estimated'][position % 3] ?? 'ok',
      place: { street: 'Rua das Flores', number: position % 200, city: 'Lisboa' },
      note: `reading ${position} of this file, taken by hand`,
    };
    yield { row_key: meter.row_key, column_name: 'READING', ref_key: meter.ref_key, body };
    meter.ref_key += 1;
  }
}

/** Writes them as NDJSON. */
export async function writeReadings(path: string, options: ReadingsOptions): Promise<void> {
  const file = createWriteStream(path);
  for (const cell of readings(options)) if (!file.write(`${JSON.stringify(cell)}\n`)) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
}
