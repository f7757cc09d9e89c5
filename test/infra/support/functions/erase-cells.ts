export { handler } from './read-cells.ts';
