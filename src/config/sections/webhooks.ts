import { z } from 'zod'
import { duration, file, flag, network, wholeNumber } from '../kinds.ts'
import { filledList, key, section } from './shared.ts'

export const webhooks = {
  allowNetworks: key(z.array(network()).prefault([]), 'Private networks that webhooks may be sent into.', {
    example: ['10.0.0.0/8'],
  }),
  caFile: key(file().nullable().prefault(null), 'Certificates in PEM to trust for receivers beside the public ones.', {
    example: 'receivers-ca.pem',
  }),
  timeout: key(duration().prefault('30s'), 'Time from the start of an attempt by which a receiver must have answered.'),
  retrySchedule: key(
    filledList(duration(), 100, 'a list of 1 to 100 durations').prefault(['0s', '1m', '5m', '30m', '2h', '12h']),
    'Delays before each attempt of a delivery; there are as many attempts as delays.',
  ),
  probe: key(
    section({
      initial: key(
        duration().prefault('10s'),
        'First time between two attempts at a receiver that is slowed down; it doubles.',
      ),
      max: key(duration().prefault('5m'), 'Longest time between two attempts at a receiver that is slowed down.'),
    }),
    'Pace of a receiver after 6 failed attempts in a row, and while the gateway is offline: one attempt at a time.',
  ),
  autoResume: key(
    section({
      enabled: key(flag().prefault(true), 'Whether a receiver disabled by its failures is tried and enabled again.'),
      every: key(duration().prefault('15m'), 'Time between two such tries.'),
    }),
    'How a receiver disabled by its failures comes back.',
  ),
  drainPerSecond: key(
    wholeNumber(1, 100_000, 'deliveries a second').prefault(50),
    'Deliveries a second to one receiver after an outage.',
  ),
}
