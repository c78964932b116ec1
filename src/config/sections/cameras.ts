import { z } from 'zod'
import { always, zonesAreLarge } from '../cross-checks.ts'
import { file, flag, kinds, number, oneOf, recordingHours, secretFile, text, url, wholeNumber } from '../kinds.ts'
import { caller, callers, filledList, id, key, section, whoIs } from './shared.ts'

/** Bounds of a camera's motion settings, both ends allowed; seconds but for `sensitivity`. The API refuses by the same. */
export const motionRanges = {
  sensitivity: { min: 0, max: 1 },
  cooldownSeconds: { min: 0, max: 3600 },
  preRecordSeconds: { min: 0, max: 60 },
  postRecordSeconds: { min: 0, max: 300 },
} as const

/** Kinds of events that the analytics of a camera report. */
export const eventKinds = ['person', 'vehicle', 'animal', 'line', 'motion', 'tamper'] as const
export type EventKind = (typeof eventKinds)[number]

const point = z.strictObject({ x: number(0, 1), y: number(0, 1) })

const polygon = z
  .array(point)
  .min(3)
  .max(256)
  .register(kinds, { name: 'polygon', expected: 'a polygon of 3 to 256 points {x, y}' })

const motionNumber = (name: keyof typeof motionRanges, unit?: string) =>
  number(motionRanges[name].min, motionRanges[name].max, unit)

const motion = {
  enabled: key(flag().prefault(true), 'Whether detection runs until the API changes it.'),
  source: key(
    oneOf(['pictures', 'camera', 'both']).prefault('pictures'),
    "Where motion is found: in the pictures, by the camera's own analytics (ONVIF events), or by both. With camera no picture is decoded for it.",
  ),
  sensitivity: key(
    motionNumber('sensitivity').prefault(0.3),
    'Score from which a picture counts as motion; lower is more sensitive.',
  ),
  cooldownSeconds: key(
    motionNumber('cooldownSeconds', 'seconds').prefault(5),
    'Shortest time from the end of a clip to the start of the next, in seconds.',
  ),
  preRecordSeconds: key(
    motionNumber('preRecordSeconds', 'seconds').prefault(5),
    'How much of the time before the motion a clip shows, in seconds.',
  ),
  postRecordSeconds: key(
    motionNumber('postRecordSeconds', 'seconds').prefault(10),
    'How much of the time after the motion a clip shows, in seconds.',
  ),
  uploadToStorage: key(flag().prefault(true), 'Whether clips are uploaded, when storage.upload is set.'),
  masks: key(
    z.array(polygon).prefault([]),
    'Parts of the picture in which motion does not count: polygons of points {x, y}, each 0 to 1 of width and height from the upper left. All that a polygon goes around is inside, also when it crosses itself.',
  ),
  zones: key(
    z.array(polygon).superRefine(zonesAreLarge, always).prefault([]),
    'Parts of the picture outside of which motion does not count, as polygons; empty: it counts everywhere. A mask wins over a zone.',
  ),
}

const history = {
  hours: key(
    number(0, 8760, 'hours').prefault(0),
    'How much continuous video is kept for late scans, in hours; 0 is none. It is removed before clips when the disk is short of room.',
  ),
  stream: key(oneOf(['main', 'sub']).prefault('sub'), 'Which stream is kept: url or, where there is one, detectUrl.'),
}

const analytics = {
  url: key(
    url(['http', 'https']).nullable().prefault(null),
    'The ONVIF device service of the camera; null: http at port 80 of the host of url. Username and passwordFile of the camera count there too.',
    { example: 'http://10.0.0.21:8000/onvif/device_service' },
  ),
  rules: key(
    z.record(text(200), oneOf([...eventKinds, 'ignore'])).prefault({}),
    "Meaning of the events of a rule in the camera; ignore drops them. GET /api/iot/cctv lists the camera's rules, each with its default.",
    { example: { 'Gate line': 'vehicle', 'Tree in the wind': 'ignore' } },
  ),
}

export const camera = {
  id: key(id(), 'Number of the camera, the cctvId of the API.', { example: 1 }),
  name: key(text(200).nullable().prefault(null), 'Name for people.', {
    derived: 'Camera and its id',
    example: 'Dock door 1',
  }),
  enabled: key(flag().prefault(true), 'Whether the gateway connects to the camera at all.'),
  url: key(url(['rtsp', 'rtsps']), 'The stream that clips are cut from.', { example: 'rtsp://10.0.0.21:554/main' }),
  detectUrl: key(
    url(['rtsp', 'rtsps']).nullable().prefault(null),
    'A smaller stream of the same camera for detection; null: url.',
    { example: 'rtsp://10.0.0.21:554/sub' },
  ),
  username: key(text(128).nullable().prefault(null), 'User name at the camera; null: it asks for none.', {
    example: 'viewer',
  }),
  passwordFile: key(secretFile().nullable().prefault(null), 'File with the password at the camera.', {
    example: 'secrets/cam1',
  }),
  warehouseId: key(id().nullable().prefault(null), 'The warehouse it is in; null: site.warehouseId.'),
  zoneId: key(id().nullable().prefault(null), 'The zone it looks at; null: none in particular.'),
  purpose: key(
    text(500).nullable().prefault(null),
    'Its purpose, in words for the people in its picture; the notice at the door shows them.',
    { example: 'To show the condition of received pallets.' },
  ),
  slots: key(z.array(text(64)).prefault([]), 'The slots it looks at, by slot_id.', { example: ['A-01-01'] }),
  owner: key(caller().nullable().prefault(null), 'The user who may see and control it beside the admins.', {
    example: 'dock-admin',
  }),
  viewers: key(callers(), `Users and groups who may see it: ${whoIs}.`, {
    example: ['alice@https://cloud.example.com', 'group:wh-supervisors'],
  }),
  retentionDays: key(
    number(0, 36_500, 'days').nullable().prefault(null),
    'Age in days at which its clips are removed; null: retention.clips.maxAgeDays.',
    { example: 14 },
  ),
  recordingHours: key(
    filledList(recordingHours(), 50, 'a list of 1 to 50 times of the week').nullable().prefault(null),
    'Hours in which the camera watches and records, in the time zone of its warehouse; null: always. Outside them nothing is recorded.',
    { example: ['Mo-Fr 06:00-22:00'] },
  ),
  history: key(section(history), 'Continuous video.'),
  motion: key(section(motion), 'Motion detection.'),
  analytics: key(section(analytics), "The camera's own analytics; they count with motion.source camera or both."),
}

export const privacy = {
  fourEyesForExport: key(
    flag().prefault(false),
    'Whether a second person has to approve each export of a clip. Callers who may not export then play no clips.',
  ),
  controller: key(
    text(500).nullable().prefault(null),
    'Name and address of the person responsible for the video; the notice at the door shows it.',
    { example: 'Example Logistics GmbH, Hafenstrasse 1, 20457 Hamburg' },
  ),
  contact: key(
    text(500).nullable().prefault(null),
    'Contact for people in the picture; the notice at the door shows it.',
    { example: 'privacy@dc7.example, +49 40 123456' },
  ),
  legalBasis: key(
    text(500).nullable().prefault(null),
    'Legal basis of the video, for the notice at the door; null: the notice has no such line.',
    { example: 'Legitimate interests: protection of goods (Art. 6 (1) (f) GDPR).' },
  ),
}

export const objectDetection = {
  enabled: key(
    flag().prefault(false),
    'Whether browsers may mark objects in live pictures; each viewer switches it on. No picture leaves the browser.',
  ),
  modelFile: key(
    file().nullable().prefault(null),
    'The model that finds them, an ONNX file (see the manual, Cameras); its labels may be in a file of the same name with .txt. null: none, and the page says how to add one.',
    { example: '/var/lib/gatehouse/models/yolo.onnx' },
  ),
  confidenceThreshold: key(number(0, 1).prefault(0.5), 'Least share of a mark.'),
  maxDetections: key(wholeNumber(1, 100).prefault(20), 'Most marks in one picture.'),
  fps: key(wholeNumber(1, 30).prefault(5), 'Most pictures a second that are looked at.'),
}
