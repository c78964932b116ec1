import t from 'tap'
import { inBrowser } from '../support/browser.ts'
import { scanWithoutNetwork } from '../support/handheld.ts'

t.setTimeout(480_000)

t.test('a thousand scans without a network over three restarts are shown, stored and acknowledged', inBrowser, (t) =>
  scanWithoutNetwork(t, 334),
)
