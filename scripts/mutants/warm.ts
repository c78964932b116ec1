/**
 * Loads what many tests load, so that the cache of compiled modules has it, and where each import leads is known
 * (`imports.ts`). Ends as usual: only then both are written.
 */
import 'fast-check'
import 'tap'
import '../../src/app/jobs-worker.ts'
import '../../src/cli/run.ts'
import '../../test/support/browser.ts'
import '../../test/support/gateway.ts'
import '../../test/support/hub.ts'
import '../../test/support/running.ts'
