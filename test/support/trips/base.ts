import type { Json } from '../../../shared/cell.ts';
import { dateTime } from './clock.ts';
import type { TripFacts } from './facts.ts';
import { tripFare } from './fare.ts';
import { identity } from './identity.ts';
import { tripEvents, tripRoute, type TripSize } from './journey.ts';

/**
 * The BASE cell of a trip: a record as high-volume for-hire companies hand it in to New York City, field for field,
 * with the ids that indexes are made of, the fare's parts, what happened, and the way it went.
 */
export function baseBody(seed: string, facts: TripFacts, size: TripSize): { readonly [field: string]: Json } {
  const { lines, total, ...amounts } = tripFare(seed, facts);
  // One of the two companies hands in neither the base a trip came from nor when the driver arrived.
  const uber = facts.license === 'HV0003';
  return {
    driver_partner_uuid: identity(`driver/${facts.driver}`),
    rider_uuid: identity(`rider/${facts.rider}`),
    city_uuid: identity(`city/${facts.pickUp.borough}`),
    trip_created_at: dateTime(facts.requestedAt),
    hvfhs_license_num: facts.license,
    dispatching_base_num: uber ? `B0${2764 + (facts.driver % 90)}` : 'B03406',
    originating_base_num: uber ? `B0${2764 + (facts.driver % 90)}` : null,
    request_datetime: dateTime(facts.requestedAt),
    on_scene_datetime: uber ? dateTime(facts.onSceneAt) : null,
    pickup_datetime: dateTime(facts.pickedUpAt),
    dropoff_datetime: dateTime(facts.droppedOffAt),
    PULocationID: facts.pickUp.id,
    DOLocationID: facts.dropOff.id,
    trip_miles: facts.miles,
    trip_time: facts.seconds,
    ...amounts,
    shared_request_flag: facts.shared ? 'Y' : 'N',
    shared_match_flag: facts.shared && facts.n % 3 === 0 ? 'Y' : 'N',
    access_a_ride_flag: ' ',
    wav_request_flag: 'N',
    wav_match_flag: facts.driver % 12 === 0 ? 'Y' : 'N',
    fare: { currency: 'USD', lines, total },
    events: tripEvents(seed, facts, size),
    route: tripRoute(seed, facts, size),
  };
}
