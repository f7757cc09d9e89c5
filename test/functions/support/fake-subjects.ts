import type { ForgottenSubject, SubjectOperations } from '../../../shared/api/subjects.ts';

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
    async forgetSubject(request) {
      asked.push(['forgetSubject', request]);
      return { ...FORGOTTEN, reason: request.reason, requested_by };
    },
    async listForgotten(page) {
      asked.push(['listForgotten', page]);
      return { subjects: [FORGOTTEN], next: null };
    },
  };
}
