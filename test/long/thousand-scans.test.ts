import t from 'tap'
import { scanWithoutNetwork } from '../support/handheld.ts'
import { onHandheld } from '../support/trusted-box.ts'

t.setTimeout(480_000)

t.test('a thousand scans without a network over three restarts are shown, stored and acknowledged', onHandheld, (t) =>
  scanWithoutNetwork(t, 334),
)
