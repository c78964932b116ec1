/**
 * Says what a message of a camera's analytics means. Pure. Topics and items are those of ONVIF's Analytics Service and of Axis,
 * Ajax, Amcrest, Avigilon, Bosch, Dahua, Hanwha, Hikvision, Reolink and TP-Link.
 */
import type { EventKind } from '../../config/index.ts'
import { cleanText } from '../onvif/devices.ts'
import type { Items, Notice } from './soap.ts'

/** Content of one message about one rule of the camera. */
export type RuleReport = {
  /** Name of the rule for the config. Where the camera gives none, it is the end of the topic. */
  readonly rule: string
  /** Distinguishes what is on from the rest: topic and source. The same one ends it. */
  readonly key: string
  /** Without an entry in the config; empty: the gateway does not know such a rule. */
  readonly kinds: readonly EventKind[]
  /** Null: it happened, and has no end. */
  readonly isOn: boolean | null
  /** The state as the subscription begins, and no event. */
  readonly isInitial: boolean
  readonly atMs: number | null
}

type Rule = { readonly topic: RegExp; readonly kind: EventKind; readonly item?: RegExp; readonly isMomentary?: boolean }

const tapo = /^RuleEngine\/(?:CellMotionDetector|PeopleDetector|TPSmartEventDetector)\//
/** The first that fits. Prefixes of topics are the camera's to choose, and left out. */
const rules: readonly Rule[] = [
  // ONVIF, Analytics Service A: nearly all cameras.
  { topic: /^RuleEngine\/CellMotionDetector\/Motion$/, kind: 'motion', item: /^IsMotion$/ },
  { topic: /^RuleEngine\/MotionRegionDetector\/Motion$/, kind: 'motion', item: /^State$/ },
  { topic: /^VideoSource\/MotionAlarm$/, kind: 'motion', item: /^State$/ },
  { topic: /^RuleEngine\/(?:FieldDetector|IntrusionDetector)\/ObjectsInside$/, kind: 'line', item: /^IsInside$/ },
  { topic: /^RuleEngine\/(?:LineDetector\/Crossed|LineCrossDetector\/LineCross)$/, kind: 'line', isMomentary: true },
  { topic: /^RuleEngine\/LoiteringDetector\//, kind: 'line' },
  { topic: /^RuleEngine\/TamperDetector\/Tamper$/, kind: 'tamper', item: /^IsTamper$/ },
  {
    topic: /^VideoSource\/(?:GlobalSceneChange|ImageTooBlurry|ImageTooDark|ImageTooBright|SignalLoss)\//,
    kind: 'tamper',
    item: /^State$/,
  },
  { topic: /^VideoSource\/Tampering$|^Device\/tampering$|^VideoSource\/ColorCast\//i, kind: 'tamper' },
  { topic: /^Device\/Trigger\/MotionDetector$/, kind: 'motion' },
  // Bosch, Hanwha.
  { topic: /^VideoAnalytics\/(?:Motion|MotionAlarm|MotionDetection)$/, kind: 'motion' },
  { topic: /^VideoAnalytics\/TamperingDetection$/, kind: 'tamper' },
  { topic: /^IVA\/(?:EnteringField|ObjectInField|LeavingField|Loitering)\//, kind: 'line' },
  { topic: /^IVA\/(?:CrossingLine|LineCross)/, kind: 'line', isMomentary: true },
  { topic: /^OpenApp\/\w+\/LineCrossing$/, kind: 'line', item: /^State$/ },
  {
    topic: /^OpenApp\/\w+\/(?:ObjectDetection|VirtualArea|Loitering|Intrusion)$/,
    kind: 'motion',
    item: /^State$/,
  },
  // Reolink, and others of its makers.
  {
    topic: /^RuleEngine\/MyRuleDetector\/(?:PeopleDetect|HumanDetect|Visitor|FaceDetect)$/,
    kind: 'person',
    item: /^State$/,
  },
  { topic: /^RuleEngine\/MyRuleDetector\/VehicleDetect$/, kind: 'vehicle', item: /^State$/ },
  { topic: /^RuleEngine\/MyRuleDetector\/DogCatDetect$/, kind: 'animal', item: /^State$/ },
  { topic: /^RuleEngine\/MyRuleDetector\/Package$/, kind: 'motion', item: /^State$/ },
  // TP-Link: the item says it, not the topic.
  { topic: tapo, kind: 'person', item: /^IsPeople$/ },
  { topic: tapo, kind: 'vehicle', item: /^IsVehicle$/ },
  { topic: tapo, kind: 'animal', item: /^IsPet$/ },
  { topic: tapo, kind: 'line', item: /^(?:IsLineCross|IsIntrusion)$/ },
  { topic: tapo, kind: 'tamper', item: /^IsTamper$/ },
  // Dahua, Amcrest.
  { topic: /^UserAlarm\/IVA\/HumanShapeDetect$/, kind: 'person' },
  { topic: /^RuleEngine\/Cross(?:Region|Line)/i, kind: 'line' },
  // Axis: guards and object analytics. `active` is true from the beginning of a scenario to its end.
  { topic: /^RuleEngine\/VMD\d\//, kind: 'motion', item: /^active$/ },
  { topic: /^CameraApplicationPlatform\/(?:ObjectAnalytics|VMD|MotionGuard)\//, kind: 'motion', item: /^active$/ },
  { topic: /^CameraApplicationPlatform\/(?:FenceGuard|LoiteringGuard)\//, kind: 'line', item: /^active$/ },
]
/** A detector of classes: one message names all that it sees. */
const classTopic = /^RuleEngine\/ObjectDetection\/Object$|^RuleEngine\/.*\/ClassDetected$/
const classItems = ['ClassTypes', 'classTypes', 'ObjectType', 'objectClass', 'Class']
/** Classes of ONVIF (tt:ObjectType), and how Axis, Hanwha and Ajax write them. */
const classes: ReadonlyMap<string, EventKind> = new Map([
  ...(['human', 'person', 'face'] as const).map((name) => [name, 'person'] as const),
  ...(['vehicle', 'vehical', 'car', 'truck', 'bus', 'bicycle', 'motorcycle', 'licenseplate'] as const).map(
    (name) => [name, 'vehicle'] as const,
  ),
  ...(['animal', 'pet'] as const).map((name) => [name, 'animal'] as const),
])
/** As long as the names of rules in the config. */
const longestName = 200

/** Returns what a message says; undefined for one that is about no rule, or that has no readable state. */
export function reportIn({ topic, operation, atMs, source, data }: Notice): RuleReport | undefined {
  const parts = topic.split('/').map((part) => part.trim().replace(/^[^:]*:/, ''))
  const path = parts.join('/')
  const named = [source, data].flatMap((items) => ['Rule', 'RuleName'].map((name) => items.get(name)))
  const rule = cleanText(named.find(Boolean) ?? (parts.slice(1).join('/') || path), longestName)
  const from = [...source].map((item) => item.join('='))
  const common = { rule, key: [path, ...from].join(' '), isInitial: operation === 'Initialized', atMs }
  if (rule === '') return undefined
  const seen = classesIn(data)
  if (classTopic.test(path)) return { ...common, kinds: seen, isOn: operation !== 'Deleted' && seen.length > 0 }
  const fit = rules.find(({ topic, item }) => topic.test(path) && (!item || itemOf(data, item) !== undefined))
  const isOn = fit?.isMomentary ? null : stateOf(fit?.item ? itemOf(data, fit.item) : [...data.values()][0], operation)
  if (isOn === undefined || (isOn === null && !fit)) return undefined
  if (!fit) return { ...common, kinds: [], isOn }
  return { ...common, kinds: seen.length > 0 && fit.kind !== 'tamper' ? seen : [fit.kind], isOn }
}

function itemOf(data: Items, item: RegExp): string | undefined {
  return [...data].find(([name]) => item.test(name))?.[1]
}

/** Returns the kinds of the classes that a message names. */
function classesIn(data: Items): EventKind[] {
  const names = classItems.flatMap((item) => (data.get(item) ?? '').toLowerCase().split(/[\s,]+/))
  return [...new Set(names.flatMap((name) => classes.get(name) ?? []))]
}

/** Returns null for a message without a value, and undefined for a value that is neither on nor off. */
function stateOf(value: string | undefined, operation: string): boolean | null | undefined {
  if (operation === 'Deleted') return false
  if (value === undefined) return null
  if (/^(?:true|1|active|on|yes)$/i.test(value)) return true
  return /^(?:false|0|inactive|off|no)$/i.test(value) ? false : undefined
}
