/** Commands that are typed one after the other, and shown with what came. */
export interface RecordedSession {
  /** Of the place in the page: `<!-- session: NAME -->`. */
  readonly name: string;
  /** Lines of a shell. A line that runs until Ctrl-C names the line typed in another terminal. */
  readonly lines: readonly (string | { readonly line: string; readonly meanwhile: string })[];
}

const TRIP = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const DRIVER = 'd3b07384-d113-4ec6-a0f2-5b1c3f6c9e11';

/** All of the page on the command line, in the order in which they are recorded, on one stack. */
export const SESSIONS: readonly RecordedSession[] = [
  {
    name: 'cells',
    lines: [
      `schemaless put ${TRIP} BASE 1 '{"driver_partner_uuid": "${DRIVER}", "fare": {"total": 12.5}}'`,
      `schemaless put ${TRIP} NOTES next '{"rating": 5}'`,
      `schemaless row ${TRIP}`,
      `schemaless latest ${TRIP} BASE --body | jq .fare.total`,
      `schemaless query driver_partner_index driver_partner_uuid=${DRIVER} 'fare.total>=10' --fields fare.total`,
    ],
  },
  {
    name: 'logs',
    lines: [
      'schemaless tail -c BASE',
      'schemaless tail --offsets read.json | jq -c "[.shard, .added_id, .column_name]"',
      'schemaless tail --offsets read.json',
      {
        line: 'schemaless tail -f -c NOTES | head -1 | jq .body',
        meanwhile: `schemaless put ${TRIP} NOTES next '{"rating": 4}'`,
      },
    ],
  },
  {
    name: 'errors',
    lines: [
      `schemaless put ${TRIP} BASE 1 '{"fare": {"total": 99}}'; echo "exit code $?"`,
      'schemaless query driver_partner_index city=Lisbon; echo "exit code $?"',
    ],
  },
];
