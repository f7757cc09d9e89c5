import { parseColumnName } from '../address.ts';
import { LIMITS, type Role } from '../cell.ts';
import { choice, digits, flag, textParameter, type Parameter } from './parameter.ts';
import { list, shape, TEXT } from './shape.ts';
import { ADDED_ID, COLUMN_NAME } from './words.ts';

/** Query parameters that several operations take. */

export const SAFE = [0, Number.MAX_SAFE_INTEGER] as const;

export const READ = {
  read: choice<Role>(['writer', 'reader'], {
    default: 'writer',
    description: 'Who is asked first. The writer shows all that was acknowledged as stored; a reader may be behind.',
    example: 'reader',
  }),
};

export const SEALED = {
  sealed: flag(
    'Answer sealed fields as they are stored, `{"$sealed": "…"}`, which no key is needed for, and no caller can read. Nothing changes where no field is sealed.',
  ),
};

/** Those of every read of one row. */
export const READ_ROW = {
  ...READ,
  min_added_id: digits(ADDED_ID, SAFE, {
    description: "A reader that has not seen this added id of the row's shard is passed over.",
    example: 17,
  }),
  ...SEALED,
};

export const LIMIT = {
  limit: digits(
    shape({ type: 'integer', minimum: 1, maximum: LIMITS.listCells, default: LIMITS.defaultLimit }),
    [1, LIMITS.listCells],
    { description: `How many items at most. An answer also ends at ${LIMITS.answerBytes} bytes.`, example: 10 },
  ),
};

/** Where a page goes on. */
export const NEXT_PAGE = 'Go on beyond this place: `next` of the page before.';

export function afterText(example: string, description = NEXT_PAGE) {
  return { after: textParameter(TEXT, { description, example }) };
}

export const DRY_RUN = { dry_run: flag('Say what would be done, and change nothing.') };

/** Names of columns: a parameter for each. */
export const COLUMNS: Parameter<readonly string[]> = {
  describe: list(COLUMN_NAME).describe,
  description: 'Only this column; may be repeated. All columns when left out.',
  example: ['BASE', 'STATUS'],
  isOptional: true,
  isRepeated: true,
  read: (texts, name) => texts.map((text) => parseColumnName(text, name)),
};
