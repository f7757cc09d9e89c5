import { arrayOf, objectOf, orNull, schema, type Schema } from './schema.ts';

const COUNT: Schema = { type: 'integer', minimum: 0 };
const FIGURE: Schema = { type: 'number', minimum: 0 };
/** Of what happened in the functions, whose clocks count milliseconds. */
const WHEN: Schema = { type: 'string', format: 'date-time' };

/** In the order in which a move goes through them; the contract says the same, which stands behind this room. */
const STEPS = ['waiting', 'copying', 'following', 'switching', 'dropping', 'completed', 'cancelled'] as const;

/** The most that `complete_after_seconds` may say: a year. */
export const MOST_SECONDS = 31_536_000;

export const MOVE_SCHEMAS: Readonly<Record<string, Schema>> = {
  GroupName: {
    type: 'string',
    pattern: '^[\\w.-]{1,64}$',
    description: 'The name of a group, as the list of the shards has it.',
  },
  Move: objectOf({
    shard: schema('Shard'),
    from: { ...schema('GroupName'), description: 'Who holds the shard; a switch exchanges it with `to`.' },
    to: { ...schema('GroupName'), description: 'Who holds its copy.' },
    step: {
      enum: STEPS,
      description:
        '`waiting`: another move that copies uses one of its groups. `following`: the copy has all but the last cells. `switching`: the shard takes no writes for a moment. `completed`, `cancelled`: it is over.',
    },
    wanted: {
      enum: ['switch', 'drop', null],
      description: 'What was asked for, and is not done yet.',
    },
    switches: { ...COUNT, description: 'How often shard and copy were exchanged.' },
    created_at: WHEN,
    switched_at: { ...orNull(WHEN), description: 'When they were exchanged last; null where they never were.' },
    head: { ...schema('AddedId'), description: 'The last added id that the shard was seen to have.' },
    copied: { ...schema('AddedId'), description: 'The last one that the copy has.' },
    compared: { ...schema('AddedId'), description: 'Up to where both were compared.' },
    bytes: { ...COUNT, description: 'Of bodies that were copied.' },
    bytes_per_second: { ...FIGURE, description: 'Lately.' },
    eta_seconds: {
      ...orNull(FIGURE),
      description: 'Until the copy has all of the shard, by that; null where nobody knows.',
    },
    digest: {
      ...orNull({ type: 'string', pattern: '^[0-9a-f]{64}$' }),
      description: 'Of both at `compared`, over their rows as they are stored; null before the first cell.',
    },
    restarts: {
      ...COUNT,
      description:
        "How often the copy was begun anew from an earlier place, since the shard's log, or the copy, had lost its end.",
    },
    closed_ms: {
      ...arrayOf(FIGURE),
      description: 'Milliseconds for which the shard took no writes, of each switch.',
    },
    complete_after_seconds: {
      ...orNull({ type: 'integer', minimum: 0, maximum: MOST_SECONDS }),
      description: 'Seconds after the switch after which the copy is dropped by itself; null: never.',
    },
    last_error: {
      ...orNull({ type: 'string' }),
      description: 'What it stumbled over last; null where it goes well.',
    },
  }),
};
