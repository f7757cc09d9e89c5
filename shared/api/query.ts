import { parseColumnName } from '../address.ts';
import { LIMITS, type Role } from '../cell.ts';
import { choice, digits, flag, textParameter, type Parameter } from './parameter.ts';
import { list, shape, TEXT } from './shape.ts';
import { ADDED_ID, COLUMN_NAME } from './words.ts';

/** The callers that may read and find cells. */
export const READERS = ['readers', 'clients'] as const;

/** Query parameters that several operations take. */

export const SAFE = [0, Number.MAX_SAFE_INTEGER] as const;

export const READ = {
  read: choice<Role>(['writer', 'reader'], {
    default: 'writer',
    description: 'The node to ask first. The writer shows all that was acknowledged as stored; a reader may be behind.',
    example: 'reader',
  }),
};

export const SEALED = {
  sealed: flag(
    'Return sealed fields as stored, `{"$sealed": "…"}`. This needs no key, and no caller can read them. No effect if no field is sealed.',
  ),
};

/** The parameters of every read of one row. */
export const READ_ROW = {
  ...READ,
  min_added_id: digits(ADDED_ID, SAFE, {
    description: "Skip a reader that has not seen this added id of the row's shard.",
    example: 17,
  }),
  ...SEALED,
};

export const LIMIT = {
  limit: digits(
    shape({ type: 'integer', minimum: 1, maximum: LIMITS.listCells, default: LIMITS.defaultLimit }),
    [1, LIMITS.listCells],
    { description: `The most items. An answer ends at ${LIMITS.answerBytes} bytes at the latest.`, example: 10 },
  ),
};

export const NEXT_PAGE = 'Continue from `next` of the previous page.';

export function afterText(example: string, description = NEXT_PAGE) {
  return { after: textParameter(TEXT, { description, example }) };
}

export const DRY_RUN = { dry_run: flag('Report what would be done, and change nothing.') };

/** Names of columns: a parameter for each. */
export const COLUMNS: Parameter<readonly string[]> = {
  describe: list(COLUMN_NAME).describe,
  description: 'Only this column; may be repeated. All columns if omitted.',
  example: ['BASE', 'STATUS'],
  isOptional: true,
  isRepeated: true,
  read: (texts, name) => texts.map((text) => parseColumnName(text, name)),
};
