import { createHash } from 'node:crypto'
import { people } from '../../support/gateway.ts'
import { eventually } from '../../support/waiting.ts'
import type { Row } from './row.ts'
import type { World } from './world.ts'

const motionStream = '/api/iot/detection/motion-stream'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Json = any

/** The first detection whose clip can be played. */
const recorded = (at: World): Promise<Json> =>
  eventually(
    async () => (await at.get('/api/iot/detection-events')).data.find((one: Json) => one.clipStatus === 'recorded'),
    (found) => found !== undefined,
  )

const refused = (field: string, value: unknown): Row => ({
  says: `Body of POST ${motionStream}: ${field} has its range and type: not ${JSON.stringify(value)}`,
  request: `POST ${motionStream}`,
  body: { cctvId: 1, action: 'start', [field]: value },
  status: 400,
  answer: { error: { code: 'VALIDATION_ERROR', details: new RegExp(field) } },
})

/** "Cameras and motion detection", and "Motion detection behaviour". */
export const cameras: readonly Row[] = [
  {
    says: 'GET /api/iot/cctv: cameras accessible to the caller (filtered by ownership)',
    holds: async (t, at) => {
      t.match(await at.get('/api/iot/cctv', people.olga), { data: [{ id: 1, name: 'Dock door 1' }] }, 'the owner')
      t.match(await at.get('/api/iot/cctv', people.ada), { data: [{ id: 1 }] }, 'an admin')
      t.same((await at.get('/api/iot/cctv', people.vera)).data, [], 'somebody else')
    },
  },
  {
    says: 'Stream URLs and camera credentials are omitted from every response.',
    holds: async (t, at) => {
      const paths = ['/api/iot/cctv', '/api/iot/cctv/1', `${motionStream}?cctvId=1`, '/api/iot/detection-events']
      for (const path of [...paths, '/api/governance/audit', '/api/health']) {
        t.notMatch((await at.ask('GET', path)).text, /rtsp:\/\/|camera-secret/, path)
      }
    },
  },
  {
    says: 'POST /api/iot/detection/motion-stream: result of starting detection for one camera; defaults: 0.3, 5, 5, 10, true',
    holds: async (t, at) => {
      await at.post(motionStream, { cctvId: 1, action: 'stop' })
      const sent = {
        sensitivity: 0.4,
        cooldownSeconds: 2,
        preRecordSeconds: 1,
        postRecordSeconds: 1,
        uploadToStorage: true,
      }
      const answer = await at.post(motionStream, { cctvId: 1, action: 'start', ...sent })
      t.match(answer, { cctvId: 1, action: 'start', running: true, changed: true, settings: sent })
      const { components } = await at.get('/api/openapi?version=3.1')
      const text = JSON.stringify(components.schemas)
      for (const words of [
        'sensitivity',
        'cooldownSeconds',
        'preRecordSeconds',
        'postRecordSeconds',
        'uploadToStorage',
      ]) {
        t.match(text, words)
      }
    },
  },
  {
    says: '`start` starts detection; a stop action also exists',
    holds: async (t, at) => {
      const running = async () => (await at.get(`${motionStream}?cctvId=1`)).running
      t.match(await at.post(motionStream, { cctvId: 1, action: 'stop' }), { running: false })
      t.equal(await running(), false)
      t.match(await at.post(motionStream, { cctvId: 1, action: 'start' }), { running: true })
      t.equal(await running(), true)
      t.equal((await at.ask('POST', motionStream, { body: { cctvId: 1, action: 'pause' } })).status, 400)
    },
  },
  refused('sensitivity', 1.5),
  refused('sensitivity', -0.1),
  refused('cooldownSeconds', '5'),
  refused('preRecordSeconds', -1),
  refused('postRecordSeconds', -1),
  refused('uploadToStorage', 'yes'),
  {
    says: 'cctvId: integer, camera to control',
    request: `POST ${motionStream}`,
    body: { cctvId: 'door', action: 'start' },
    status: 400,
    answer: { error: { details: /cctvId/ } },
  },
  {
    says: 'cctvId: a camera that is not there',
    request: `POST ${motionStream}`,
    body: { cctvId: 4711, action: 'start' },
    status: 404,
    answer: { error: { code: 'NOT_FOUND' } },
  },
  {
    says: 'GET /api/iot/detection/motion-stream: query `cctvId`: running state, frame count, motion frame statistics',
    holds: async (t, at) => {
      const status = await eventually(
        () => at.get(`${motionStream}?cctvId=1`),
        ({ frameCount }) => frameCount > 0,
      )
      t.match(status, {
        cctvId: 1,
        running: true,
        frameCount: Number,
        motionFrames: { count: Number, percentage: Number },
      })
    },
  },
  {
    says: 'GET /api/iot/detection-events: motion detection events with clip URLs and metadata (camera id, timestamp, duration)',
    holds: async (t, at) => {
      const detection = await recorded(at)
      t.match(detection, { cctvId: 1, timestamp: String, duration: Number, clipUrls: { playback: String } })
    },
  },
  {
    says: 'One long-running analysis process runs per camera and is restarted automatically within seconds if it fails.',
    holds: async (t, at) => {
      const before = await at.get(`${motionStream}?cctvId=1`)
      at.cutCamera()
      const after = await eventually(
        () => at.get(`${motionStream}?cctvId=1`),
        ({ restarts, state, frameCount }) =>
          restarts > before.restarts && state === 'live' && frameCount > before.frameCount,
        { withinMs: 30_000 },
      )
      t.ok(after.running)
    },
  },
  {
    says: 'The process scores pixel differences between frames on a 0-1 scale. When the score exceeds `sensitivity`, a motion event fires.',
    holds: async (t, at) => {
      const { score } = await recorded(at)
      t.ok(score > 0.3 && score <= 1, `${score}`)
      const { motionFrames } = await at.get(`${motionStream}?cctvId=1`)
      t.ok(motionFrames.maxScore >= 0 && motionFrames.maxScore <= 1)
    },
  },
  {
    says: 'A clip is cut from a ring buffer using `preRecordSeconds` and `postRecordSeconds`. Clips are at least `cooldownSeconds` apart.',
    holds: async (t, at) => {
      const clips = await eventually(
        async () =>
          (await at.get('/api/iot/detection-events')).data.filter((one: Json) => one.clipStatus === 'recorded'),
        (found) => found.length >= 2,
      )
      const [later, earlier] = clips
      t.ok(Date.parse(later.clipStart) - Date.parse(earlier.clipEnd) >= 1000, 'a second apart, as the config says')
      t.ok(Date.parse(later.clipStart) < Date.parse(later.timestamp), 'it begins before the motion')
    },
  },
  {
    says: 'If `uploadToStorage` is true, the clip is uploaded to evidence storage with camera id, timestamp and duration.',
    holds: async (t, at) => {
      const { data } = await eventually(
        () => at.get('/api/uploads?kind=clip'),
        ({ data }) => data.some((row: Json) => row.status === 'uploaded'),
      )
      const row = data.find((one: Json) => one.status === 'uploaded')
      t.match(row.path, /\/clips\/1\/\d{4}\/\d\d\/\d\d\/.*\d+s_\d+\.mp4$/)
    },
  },
  {
    says: 'A detection event is created in the ledger, an evidence hash is computed and anchored, and the clip becomes available for playback.',
    holds: async (t, at) => {
      const detection = await recorded(at)
      t.match(detection, { evidenceHash: /^[0-9a-f]{64}$/, anchor: String, clipSha256: /^[0-9a-f]{64}$/ })
      const clip = await fetch(`${at.url}/api/iot/detection-events/${detection.id}/clip`, { headers: at.signedIn() })
      t.equal(clip.headers.get('content-type'), 'video/mp4')
      const bytes = Buffer.from(await clip.arrayBuffer())
      t.equal(createHash('sha256').update(bytes).digest('hex'), detection.clipSha256)
    },
  },
  {
    says: 'An optional browser-side object detection … client settings are `confidenceThreshold` (default 0.5), `maxDetections` (default 20 per frame) and `fps` (default 5).',
    request: 'GET /api/console/object-detection',
    status: 200,
    answer: { confidenceThreshold: 0.5, maxDetections: 20, fps: 5 },
  },
]
