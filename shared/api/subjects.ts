import { invalidField, wrongField } from '../errors.ts';
import { parseSubject } from '../subject.ts';
import { checked, input, maybe, members } from './input.ts';
import { operations, type Methods } from './operation.ts';
import { afterText, LIMIT } from './query.ts';
import { FLAG, list, named, object, orNull, said, TEXT, WHEN, type Of } from './shape.ts';
import { REASON } from './words.ts';

/** The subjects of a datastore, whose keys its sealed fields are under, as those see them who forget them. */

/** Hexadecimal digits of a subject's name in records. */
const NAME_DIGITS = 32;
const NAME = new RegExp(`^[0-9a-f]{${NAME_DIGITS}}$`, 'u');

const SUBJECT_NAME = named(
  'SubjectName',
  said(
    input({ type: 'string', pattern: NAME.source }, (given, field): string => {
      if (typeof given === 'string' && NAME.test(given)) return given;
      throw wrongField(field, `the ${NAME_DIGITS} digits 0-9 a-f of a record`, 'something else');
    }),
    'By a key of the datastore: it does not say who the subject is, and is the same whenever it is asked for.',
  ),
);
/** No error says what came: it may name a person. */
const SUBJECT = input({ type: 'string', minLength: 1, maxLength: 255 }, parseSubject);

const REQUEST = checked(
  members({
    subject: said(
      maybe(SUBJECT),
      'As the field says that names it in bodies; a UUID in either case. Either this, or `subject_name`.',
    ),
    subject_name: said(
      maybe(SUBJECT_NAME),
      'As a record says: to forget it once more, where the table of keys was set back.',
    ),
    reason: REASON,
  }),
  { oneOf: [{ required: ['subject'] }, { required: ['subject_name'] }] },
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
    requested_by: said(TEXT, 'The caller as IAM knows it; `anybody` where calls are not signed.'),
    forgotten_at: WHEN,
    had_key: said(
      FLAG,
      'False: there was no key to delete. Nothing was ever sealed for it, or the subject was misspelt.',
    ),
    unreadable_from: said(WHEN, 'From then on nobody reads, or writes, anything of it.'),
    key_in_backups_until: said(
      orNull(WHEN),
      'Until when the table of keys can be set back to a moment at which its key was there; null where it cannot.',
    ),
    not_reached: said(list(TEXT), 'What is left of it that is no sealed value.'),
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
    more: 'Its key goes, and with it all that was ever sealed under it, in backups, exports and copies, too: see infra/docs/forgetting.md. Nothing is sealed for it any more. Asked again, it answers the same record.',
    body: REQUEST,
    bodyExample: { subject: 'c3a8f1d2-5b6e-4f70-9a81-2d3c4b5a6978', reason: 'request 4711' },
    answers: { 200: { means: 'It is forgotten.', body: FORGOTTEN, example: EXAMPLE } },
    errors: ['no_root_key'],
  },
  listForgotten: {
    ...OF_ERASERS,
    method: 'GET',
    path: '/v1/{datastore}/erasures/subjects',
    by: 'getErasure',
    summary: 'List subjects that were forgotten',
    more: 'The records, in no order. A page may have few of them, or none, and still not be the last: that has `next` null.',
    query: { ...LIMIT, ...afterText('c3ViamVjdCN0cmlwcyMzYjFmNmM') },
    answers: {
      200: {
        means: 'A page of records.',
        body: object({ subjects: list(FORGOTTEN), next: orNull(TEXT) }),
        example: { subjects: [EXAMPLE], next: null },
      },
    },
    errors: [],
  },
});

export type SubjectOperations = Methods<typeof SUBJECTS>;
