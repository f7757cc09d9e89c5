import type { Admission } from '../../shared/access/admission.ts';

/** Lets in whatever comes, at once. */
export const withoutAdmission: Admission = (_group, work) => work(() => undefined);
