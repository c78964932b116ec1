import type { Migration } from '../migrate.ts'
import { auditDigestsStatements } from './0016/audit-digests.ts'
import { barcodesStatements } from './0016/barcodes.ts'
import { cameraGapsStatements } from './0016/camera-gaps.ts'
import { camerasStatements } from './0016/cameras.ts'
import { clockStatements } from './0016/clock.ts'
import { eventFilmsStatements } from './0016/event-films.ts'
import { evidenceStatements } from './0016/evidence.ts'
import { healthStatements } from './0016/health.ts'
import { logKeysStatements } from './0016/log-keys.ts'
import { peopleStatements } from './0016/people.ts'
import { planStatements } from './0016/plan.ts'
import { privacyStatements } from './0016/privacy.ts'
import { repliesStatements } from './0016/replies.ts'
import { retentionStatements } from './0016/retention.ts'
import { signInStatements } from './0016/sign-in.ts'
import { transparencyStatements } from './0016/transparency.ts'
import { uploadStatements } from './0016/upload.ts'
import { witnessesStatements } from './0016/witnesses.ts'

/** The last step before the first release: formats that can never change later get their final form. */
export const release: Migration = {
  version: 16,
  name: 'release',
  oldestReader: 16,
  statements: [
    ...peopleStatements,
    ...barcodesStatements,
    ...evidenceStatements,
    ...camerasStatements,
    ...signInStatements,
    ...healthStatements,
    ...repliesStatements,
    ...privacyStatements,
    ...retentionStatements,
    ...cameraGapsStatements,
    ...eventFilmsStatements,
    ...uploadStatements,
    ...auditDigestsStatements,
    ...clockStatements,
    ...transparencyStatements,
    ...witnessesStatements,
    ...logKeysStatements,
    ...planStatements,
  ],
}
