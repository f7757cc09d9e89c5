/** The calls that each generated client makes, in order, typed by what is read from their answers. */

interface Keyed {
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
}
interface Log {
  readonly cells: readonly Keyed[];
}
interface Put {
  readonly outcome: string;
  readonly shard: number;
  readonly added_id?: number;
}
interface Statuses {
  readonly answers: readonly ({ readonly status: number } | null)[];
}

export interface Answered<Data> {
  readonly status: number | undefined;
  readonly data: Data | undefined;
  readonly error: object | undefined;
}

interface Call<Data> {
  readonly statuses: readonly number[];
  readonly wanted: unknown;
  readonly read: (data: Data) => unknown;
}

const call = <Data>(statuses: readonly number[], wanted: unknown, read: (data: Data) => unknown): Call<Data> => ({
  statuses,
  wanted,
  read,
});
const refused = (status: number, code: string): Call<unknown> => call([status], code, () => undefined);
const outcomeOf = ({ outcome }: { readonly outcome?: string }): string | undefined => outcome;
const refKeys = ({ cells: some }: Log): readonly number[] =>
  some.filter((one) => one.row_key === row_key && one.column_name === 'BASE').map(({ ref_key }) => ref_key);
const statuses = ({ answers }: Statuses): unknown => answers.map((answer) => answer?.status);

const CALLS = {
  getHealth: call([200], true, ({ groups }: { readonly groups: readonly unknown[] }) => groups.length > 0),
  putCell: call<Put>([201], 'stored', outcomeOf),
  putAgain: call<Put>([200], 'stored_before', outcomeOf),
  putAnother: refused(409, 'conflict'),
  putNull: call<Put>([201], 'stored', outcomeOf),
  batchPut: call([200], ['stored', 'stored'], ({ results }: { readonly results: readonly { outcome: string }[] }) =>
    results.map(outcomeOf),
  ),
  getCell: call<Keyed>([200], 1, ({ ref_key }) => ref_key),
  getLatestCell: call<Keyed>([200], 3, ({ ref_key }) => ref_key),
  listVersions: call<Log>([200], [1, 2], refKeys),
  getRow: call<Log>([200], [3], refKeys),
  batchGet: call([200], [3, null], ({ cells: some }: { readonly cells: readonly (Keyed | object | null)[] }) =>
    some.map((one) => one && 'ref_key' in one && one.ref_key),
  ),
  batchRead: call<Statuses>([200], [200, 404], statuses),
  listShards: call([200], true, ({ shards }: { readonly shards: readonly { shard: number }[] }) => shards.length > 0),
  readShardLog: call<Log>([200], [1, 2, 3], refKeys),
  readLog: call([200], [[1, 2, 3]], ({ logs }: { readonly logs: readonly (Log | { readonly error: object })[] }) =>
    logs.map((log) => 'cells' in log && refKeys(log)),
  ),
  digestLog: call([200], 64, ({ digest }: { readonly digest: string }) => digest.length),
  batchQuery: call<Statuses>([200], [200], statuses),
  getTrigger: call([200], 'running', ({ state }: { readonly state: string }) => state),
  eraseCells: call([200, 202], 'column', ({ scope }: { readonly scope: string }) => scope),
  getErased: refused(410, 'erased'),
  getInvalid: refused(400, 'invalid_field'),
};

/** The first cell is stored there. */
interface Stored {
  shard: number;
  added_id: number;
}

type DataOf<Some> = Some extends Call<infer Data> ? Data : never;
type GeneratedClient = {
  readonly [Name in keyof typeof CALLS]: (stored: Stored) => Promise<Answered<DataOf<(typeof CALLS)[Name]>>>;
};

export const trigger = { datastore: 'trips', trigger: 'bill_rider' };
export const row_key: string = crypto.randomUUID();
export const column = { datastore: 'trips', row_key, column_name: 'BASE' };
export const cell = { ...column, ref_key: 1 };
const driver = crypto.randomUUID();
export const body = {
  driver_partner_uuid: driver,
  city_uuid: crypto.randomUUID(),
  trip_created_at: '2026-01-31T08:00:00Z',
};
export const cells = [2, 3].map((ref_key) => ({ row_key, column_name: 'BASE', ref_key, body }));
export const keys = ['BASE', 'NONE'].map((column_name) => ({ row_key, column_name }));
export const reads = keys.map(({ column_name }) => `cells/${row_key}/${column_name}`);
export const queries = [`indexes/driver_partner_index?driver_partner_uuid=${driver}`];
export const erasure = { row_key, column_name: 'BASE', reason: 'a test' };

/** Makes the calls, and prints their number and those that ended otherwise, as JSON. */
export async function makeCalls(client: GeneratedClient): Promise<void> {
  const stored: Stored = { shard: -1, added_id: -1 };
  const others: unknown[] = [];
  for (const [name, { statuses: fitting, wanted, read }] of Object.entries(CALLS)) {
    const { status = 0, data, error } = await client[name as keyof GeneratedClient](stored);
    if (name === 'putCell') Object.assign(stored, data);
    const found = status < 300 ? read(data as never) : Object(error).code;
    if (!fitting.includes(status) || JSON.stringify(found) !== JSON.stringify(wanted))
      others.push([name, status, found]);
  }
  console.log(JSON.stringify({ made: Object.keys(CALLS).length, others }));
}

/** Returns the answer of a client that returns data or an error, and the response. */
export async function answered<Data>(
  asked: Promise<{ readonly data?: Data; readonly error?: object; readonly response?: Response }>,
): Promise<Answered<Data>> {
  const { data, error, response } = await asked;
  return { status: response?.status, data, error };
}
