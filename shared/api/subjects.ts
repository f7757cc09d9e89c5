import { invalidField, wrongField } from '../errors.ts';
import { parseSubject } from '../subject.ts';
import { checked, input, maybe, members } from './input.ts';
import { operations, type Methods } from './operation.ts';
import { afterText, LIMIT } from './query.ts';
import { FLAG, list, named, object, orNull, described, TEXT, WHEN, type Of } from './shape.ts';
import { REASON } from './words.ts';

/** Operations that forget subjects, under whose keys a datastore seals fields. */

/** Hexadecimal digits of a subject's name in records. */
const NAME_DIGITS = 32;
const NAME = new RegExp(`^[0-9a-f]{${NAME_DIGITS}}$`, 'u');

const SUBJECT_NAME = named(
  'SubjectName',
  described(
    input({ type: 'string', pattern: NAME.source }, (given, field): string => {
      if (typeof given === 'string' && NAME.test(given)) return given;
      throw wrongField(field, `the ${NAME_DIGITS} digits 0-9 a-f of a record`, 'something else');
    }),
    'Derived with a key of the datastore: it does not reveal the subject, and is always the same.',
  ),
);
/** Errors omit the value: it may name a person. */
const SUBJECT = input({ type: 'string', minLength: 1, maxLength: 255 }, parseSubject);

const BY_VALUE = described(SUBJECT, 'The value of the field that names it in bodies; a UUID in either case.');
const BY_NAME = described(SUBJECT_NAME, 'From a record: to forget it again after the table of keys was restored.');

const REQUEST = checked(
  members({ subject: maybe(BY_VALUE), subject_name: maybe(BY_NAME), reason: REASON }),
  [members({ subject: BY_VALUE, reason: REASON }), members({ subject_name: BY_NAME, reason: REASON })],
  ({ subject, subject_name }) => {
    if (subject_name === undefined) SUBJECT.read(subject, 'subject');
    else if (subject !== undefined) throw invalidField('subject_name', 'either `subject` or `subject_name`', 'both');
  },
);

const FORGOTTEN = named(
  'ForgottenSubject',
  object({
    subject_name: SUBJECT_NAME,
    reason: REASON,
    requested_by: described(TEXT, 'The caller as IAM names it; `anybody` if calls are not signed.'),
    forgotten_at: WHEN,
    had_key: described(
      FLAG,
      'False: there was no key to delete. Nothing was ever sealed for it, or the subject was misspelt.',
    ),
    unreadable_from: described(WHEN, 'From then on its sealed values can be neither read nor written.'),
    key_in_backups_until: described(
      orNull(WHEN),
      'Until when the table of keys can be restored to a time at which its key existed; null if it cannot.',
    ),
    not_reached: described(list(TEXT), 'Its remaining data other than sealed values.'),
  }),
);
export type ForgottenSubject = Of<typeof FORGOTTEN>;

const EXAMPLE = {
  subject_name: '3b1f6c0d9e2a47588c1d0f3e5a6b7c8d',
  reason: 'request 4711',
  requested_by: 'arn:aws:iam::123456789012:role/privacy',
  forgotten_at: '2026-01-31T08:00:00.000Z',
  had_key: true,
  unreadable_from: '2026-01-31T08:00:10.000Z',
  key_in_backups_until: '2026-03-07T08:00:05.000Z',
  not_reached: [
    'keyed hashes of its values that indexes have, in cells, indexes, backups and exports, as long as these live',
  ],
} as const;

const OF_ERASERS = { handler: 'erase-cells', mayCall: ['erasers'] } as const;

export const SUBJECTS = operations({
  forgetSubject: {
    ...OF_ERASERS,
    method: 'POST',
    path: '/v1/{datastore}/subjects/forget',
    summary: 'Forget a subject for good',
    more: 'Deletes its key, and with it all that was ever sealed under it, in backups, exports and copies as well: see infra/docs/forgetting.md. Nothing is sealed for it any more. A repeated request returns the same record.',
    body: REQUEST,
    bodyExample: { subject: 'c3a8f1d2-5b6e-4f70-9a81-2d3c4b5a6978', reason: 'request 4711' },
    answers: { 200: { means: 'It is forgotten.', body: FORGOTTEN, example: EXAMPLE } },
    errors: ['no_root_key'],
  },
  listForgotten: {
    ...OF_ERASERS,
    method: 'GET',
    path: '/v1/{datastore}/erasures/subjects',
    summary: 'List forgotten subjects',
    more: 'The records, in no order. A page may have few records, or none, and not be the last: the last has `next` null.',
    query: { ...LIMIT, ...afterText('c3ViamVjdCN0cmlwcyMzYjFmNmM') },
    answers: {
      200: {
        means: 'A page of records.',
        body: object({ subjects: list(FORGOTTEN), next: orNull(TEXT) }),
        example: { subjects: [EXAMPLE], next: null },
      },
    },
  },
});

export type SubjectOperations = Methods<typeof SUBJECTS>;
