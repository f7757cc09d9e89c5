import type { ForgottenSubject, SubjectOperations } from '../../../shared/contract/subject-operations.ts';
import { missingField, wrongField } from '../../../shared/errors.ts';
import { parseSubject } from '../../../shared/subject.ts';

export const FORGOTTEN: ForgottenSubject = {
  subject_name: '3b1f6c0d9e2a47588c1d0f3e5a6b7c8d',
  reason: 'request 4711',
  requested_by: 'anybody',
  forgotten_at: '2026-01-31T08:00:00.000Z',
  had_key: true,
  unreadable_from: '2026-01-31T08:00:10.000Z',
  key_in_backups_until: null,
  not_reached: ['what was read before'],
};

/** Subjects of which one is forgotten; what was asked of them is kept in `asked`. */
export function fakeSubjects(asked: unknown[][] = [], requested_by = 'anybody'): SubjectOperations {
  return {
    async forget({ subject, subject_name, reason }) {
      if (subject === undefined && subject_name === undefined) throw missingField('subject', 'a string');
      if (subject !== undefined) parseSubject(subject, 'subject');
      else if (!/^[0-9a-f]{32}$/u.test(String(subject_name)))
        throw wrongField('subject_name', '32 digits', 'something else');
      asked.push(['forget', { ...(subject === undefined ? { subject_name } : { subject }), reason }]);
      return { ...FORGOTTEN, reason, requested_by };
    },
    async forgotten({ limit, after } = {}) {
      asked.push(['forgotten', { limit, after }]);
      return { subjects: [FORGOTTEN], next: null };
    },
  };
}
