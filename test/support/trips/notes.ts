import type { LateBody } from './late-body.ts';
import { DAY, dateTime, MINUTE } from './clock.ts';
import type { TripFacts } from './facts.ts';
import { Random } from '../random.ts';

const TEXTS = [
  'Great ride, thank you!',
  'Car was very clean.',
  'Took the long way round…',
  'Très bon chauffeur, à bientôt 👍',
  '¡Excelente! Llegó en 2 minutos.',
  'Спасибо, всё отлично',
  '司机很准时,谢谢!',
  'とても丁寧な運転でした 🚕',
  'سائق ممتاز، شكراً',
  'תודה רבה, נסיעה נעימה',
  'Zoë’s café stop was no problem 👩‍👩‍👧‍👦',
  'She said "left at the light",\nI said right. \\o/',
  'Left my 🎻 in the trunk — please call',
] as const;
const TAGS = ['clean car', 'on time', 'good route', 'good music', 'quiet', 'friendly'] as const;

/**
 * The NOTES cells of a trip: a third have one, by the rider, a tenth of those another by the driver. Most come within
 * the hour, the last after a week; one in fifty is written during the trip, before its BASE cell exists.
 */
export function tripNotes(seed: string, facts: TripFacts): readonly LateBody[] {
  const random = new Random(seed, 'notes', facts.n);
  if (!random.chance(0.33)) return [];
  const authors = random.chance(0.1) ? (['rider', 'driver'] as const) : (['rider'] as const);
  return authors.map((author) => {
    const delay = random.chance(0.2) ? random.between(0, 7 * DAY) : random.lognormal(20 * MINUTE, 1);
    const during = random.chance(0.02);
    const at = during ? facts.pickedUpAt : Math.max(facts.pickedUpAt, facts.droppedOffAt) + Math.min(7 * DAY, delay);
    const rating = random.chance(0.8) ? 5 : random.integer(1, 4);
    return {
      at,
      body: {
        author,
        rating,
        text: random.chance(0.4) ? random.pick(TEXTS) : '',
        tags: rating > 3 ? TAGS.filter(() => random.chance(0.2)) : [],
        written_at: dateTime(at),
      },
    };
  });
}
