import { SUBJECTS, type ForgottenSubject, type SubjectOperations } from '../../../shared/api/subjects.ts';

export const FORGOTTEN: ForgottenSubject = {
  ...SUBJECTS.forgetSubject.answers[200].example,
  requested_by: 'anybody',
  key_in_backups_until: null,
};

/** Subjects of which one is forgotten. */
export function fakeSubjects(requested_by = 'anybody'): SubjectOperations {
  return {
    forgetSubject: async ({ reason }) => ({ ...FORGOTTEN, reason, requested_by }),
    listForgotten: async () => ({ subjects: [FORGOTTEN], next: null }),
  };
}
