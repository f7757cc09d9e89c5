/** The module of `StoreAccess.wrap` for a control: the query of its URL names the missing protection. */
import { PROTECTIONS } from './protections.ts';

export const wrap = PROTECTIONS[new URL(import.meta.url).search.slice(1) as keyof typeof PROTECTIONS];
