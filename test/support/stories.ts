import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'

/**
 * The stories of `test/stories`: hand-made histories of the ledger with the results that the documents demand. The README
 * beside them explains each field. Every form error is thrown with the file's name. Nothing is skipped and no key is
 * ignored, so that a misspelt expectation cannot pass as met.
 */

const assetTypes = ['pallet', 'container', 'box', 'drum', 'equipment'] as const
const eventTypes = ['PLACED', 'REMOVED', 'VERIFIED', 'DISPUTED'] as const
const roles = ['viewer', 'operator', 'supervisor', 'admin'] as const

const warningCodes = [
  'SLOT_ALREADY_OCCUPIED',
  'SLOT_EMPTY',
  'ASSET_ELSEWHERE',
  'ASSET_MISMATCH',
  'UNKNOWN_ASSET',
  'TYPE_NOT_ALLOWED',
  'OVERWEIGHT',
  'OVERHEIGHT',
  'SELF_VERIFIED',
  'OPERATOR_DIFFERS',
  'LATE_EVENT',
  'CLOCK_AHEAD',
  'NO_EFFECT',
  'PHOTO_NOT_HELD',
  'PHOTO_TIME_MISMATCH',
  'SLOT_RETIRED',
  'SCAN_MISMATCH',
  'PHOTO_REUSED',
  'BARCODE_CHECK_DIGIT',
  'BARCODE_NOT_GS1',
  'BARCODE_AGAINST_GS1',
] as const

/** UTC with milliseconds, the one form in which a story writes its own times. */
const instant = z.string().refine(isInstant, 'expected a time like 2026-03-02T08:00:00.000Z')

const label = z.string().min(1)

const distinct = <T extends z.ZodType<string>>(member: T) =>
  z.array(member).refine((list) => new Set(list).size === list.length, 'the same one twice')

const slotState = z.discriminatedUnion('isOccupied', [
  z.strictObject({
    isOccupied: z.literal(true),
    assetBarcode: label,
    isVerified: z.boolean(),
    isDisputed: z.boolean(),
  }),
  z.strictObject({ isOccupied: z.literal(false), assetBarcode: z.null() }),
])

/** held: a separate photo. A number: the photo of that number, the same wherever the story names it. */
const photo = z.union([z.literal('held'), z.int().positive()])

const given = z.strictObject({
  slots: z
    .array(
      z.strictObject({
        slot_id: label,
        constraints: z
          .strictObject({
            max_weight: z.number().positive().optional(),
            max_height: z.number().positive().optional(),
            allowed_types: distinct(z.enum(assetTypes)).optional(),
          })
          .optional(),
      }),
    )
    .min(1),
  assets: z
    .array(
      z.strictObject({
        asset_id: label,
        type: z.enum(assetTypes),
        weight_kg: z.number().nonnegative().optional(),
        dimensions: z.strictObject({ length: z.number(), width: z.number(), height: z.number() }).optional(),
      }),
    )
    .default([]),
  enforce: distinct(z.enum(warningCodes)).default([]),
  ledger: z
    .strictObject({ assets: z.enum(['any', 'registered']).optional(), photos: z.enum(['any', 'held']).optional() })
    .default({}),
})

const post = z
  .strictObject({
    event_type: z.enum(eventTypes),
    slot_code: label.optional(),
    slot_id: z.int().positive().optional(),
    asset_barcode: label,
    photo: photo.optional(),
    photo_url: z.url().optional(),
    photo_taken_at: instant.optional(),
    /** Sent as it is: a story may be about its form. */
    timestamp: z.string().optional(),
    operator: label.optional(),
    scale_weight_kg: z.number().optional(),
    corrects_step: z.int().positive().optional(),
    scan: z.strictObject({ slot: label.optional(), asset: label.optional() }).optional(),
  })
  .refine((body) => (body.slot_code === undefined) !== (body.slot_id === undefined), 'either slot_code or slot_id')
  .refine((body) => body.photo === undefined || body.photo_url === undefined, 'either photo or photo_url')

const expectation = z.preprocess(
  (value) => (isRecord(value) && !('status' in value) ? { ...value, status: 201 } : value),
  z.discriminatedUnion('status', [
    z.strictObject({
      status: z.literal(201),
      timestamp: instant.optional(),
      effect: z.enum(['applied', 'superseded', 'none']),
      warnings: distinct(z.enum(warningCodes)),
      slot: slotState,
    }),
    z.strictObject({
      status: z.literal([400, 401, 403, 404]),
      code: z.string().regex(/^[A-Z][A-Z0-9_]+$/),
    }),
  ]),
)

const person = z.strictObject({ user: label, role: z.enum(roles) })

const postStep = z
  .strictObject({
    received: instant,
    by: person.optional(),
    deviceTime: instant.optional(),
    post,
    expect: expectation,
  })
  .transform((value) => ({ ...value, kind: 'post' as const, by: value.by ?? usualCaller(value.post.event_type) }))

/** An event that an act appended, as the answer has it. */
const appended = z.strictObject({
  event_type: z.enum(eventTypes),
  slot: label,
  asset: label,
  timestamp: instant.optional(),
  effect: z.enum(['applied', 'superseded', 'none']),
  warnings: distinct(z.enum(warningCodes)),
})

const actExpectation = z.preprocess(
  (value) => (isRecord(value) && !('status' in value) ? { ...value, status: 201 } : value),
  z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal([200, 201]), events: z.array(appended).min(1) }),
    z.strictObject({ status: z.literal([400, 401, 403, 404]), code: z.string().regex(/^[A-Z][A-Z0-9_]+$/) }),
  ]),
)

const act = z
  .strictObject({
    move: z
      .strictObject({
        asset_barcode: label,
        to_slot_code: label,
        from_slot_code: label.optional(),
        photo,
        timestamp: z.string().optional(),
      })
      .optional(),
    correct: z
      .strictObject({
        step: z.int().positive(),
        slot_code: label.optional(),
        asset_barcode: label.optional(),
        none: z.literal(true).optional(),
      })
      .optional(),
    batch: z.strictObject({ mode: z.enum(['proceed', 'rollback']), events: z.array(post).min(1) }).optional(),
  })
  .refine((one) => Object.keys(one).length === 1, 'expected post, or one of move, correct, batch')

const actStep = z
  .looseObject({ received: instant, by: person.optional(), deviceTime: instant.optional(), expect: actExpectation })
  .transform(({ received, by, deviceTime, expect, ...rest }, context) => {
    const read = act.safeParse(rest)
    for (const issue of read.error?.issues ?? []) context.addIssue({ code: 'custom', message: issue.message })
    const caller = by ?? { user: 'olga', role: 'operator' as const }
    return { kind: 'act' as const, received, by: caller, deviceTime, expect, act: read.data ?? {} }
  })

/** A person is forgotten at the box. */
const eraseStep = z
  .strictObject({
    received: instant,
    erase: label,
    expect: z.strictObject({ outcome: z.enum(['erased', 'erased-before', 'unknown']) }),
  })
  .transform((value) => ({ ...value, kind: 'erase' as const }))

const readStep = (value: unknown) => {
  if (isRecord(value) && 'post' in value) return postStep.safeParse(value)
  return isRecord(value) && 'erase' in value ? eraseStep.safeParse(value) : actStep.safeParse(value)
}

const step = z.unknown().transform((value, context) => {
  const read = readStep(value)
  if (read.success) return read.data
  for (const issue of read.error.issues) context.addIssue({ code: 'custom', path: issue.path, message: issue.message })
  return z.NEVER
})

const kinds = ['slot', 'asset', 'operator', 'step'] as const

/** A check after the last step. `kind` is set here, from the key that is there. */
const check = z.preprocess(
  (value) => (isRecord(value) ? { ...value, kind: kinds.find((kind) => kind in value) } : value),
  z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('operator'),
      /** A name, or `name@<instance URL>`. */
      operator: label,
      /** Numbers of the steps whose events are found, in their order of time. */
      steps: z.array(z.int().positive()),
    }),
    z.strictObject({
      kind: z.literal('step'),
      step: z.int().positive(),
      shows: z.strictObject({ operator: label, actor: label }),
    }),
    z.strictObject({
      kind: z.literal('slot'),
      slot: label,
      at: instant.optional(),
      known_at: instant.optional(),
      is: slotState,
    }),
    z.strictObject({
      kind: z.literal('asset'),
      asset: label,
      at: instant.optional(),
      known_at: instant.optional(),
      /** A slot_id; null: known but nowhere; `unknown`: 404. */
      location: z.union([label, z.null()]),
    }),
  ]),
)

type ReadStep = z.output<typeof step>

/** Whether the step records exactly one event. */
function isRecorded(step: ReadStep | undefined): boolean {
  return step?.kind === 'post' && step.expect.status === 201
}

const storyFile = z
  .strictObject({
    title: label,
    source: label,
    given,
    steps: z.array(step).min(1),
    // biome-ignore lint/suspicious/noThenProperty: the story's own word, and never a function.
    then: z.array(check).min(1),
  })
  .superRefine((story, context) => {
    const complain = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })

    const slots = story.given.slots.map((slot) => slot.slot_id)
    if (new Set(slots).size !== slots.length) complain(['given', 'slots'], 'the same slot twice')
    if (slots.includes('unknown')) complain(['given', 'slots'], 'no slot may be called unknown')

    for (const [index, step] of story.steps.entries()) {
      if (step.kind === 'act') {
        const wrong = step.act.correct?.step
        const isEarlier = wrong === undefined || (wrong <= index && story.steps[wrong - 1]?.kind === 'post')
        if (!isEarlier) complain(['steps', index, 'correct', 'step'], 'expected an earlier step that posts an event')
        continue
      }
      if (step.kind === 'erase') continue
      const { post, expect } = step
      const unknownSlot =
        post.slot_code === undefined ? Number(post.slot_id) > slots.length : !slots.includes(post.slot_code)
      if (unknownSlot && expect.status === 201) complain(['steps', index, 'post'], 'no such slot is given')
      const corrected = post.corrects_step
      if (corrected !== undefined && (corrected > index || !isRecorded(story.steps[corrected - 1]))) {
        complain(['steps', index, 'post', 'corrects_step'], 'expected an earlier step that is recorded')
      }
    }

    for (const [index, looked] of story.then.entries()) {
      if (looked.kind === 'operator' || looked.kind === 'step') {
        const named = looked.kind === 'operator' ? looked.steps : [looked.step]
        if (!named.every((nth) => isRecorded(story.steps[nth - 1])))
          complain(['then', index], 'expected steps that record one event')
        continue
      }
      const named = looked.kind === 'slot' ? looked.slot : looked.location
      if (named !== null && named !== 'unknown' && !slots.includes(named)) {
        complain(['then', index], `no slot ${named} is given`)
      }
    }
  })

export type Story = z.output<typeof storyFile> & {
  /** The file's name without its ending. */
  name: string
}
export type StoryStep = Story['steps'][number]
export type PostStep = Extract<StoryStep, { kind: 'post' }>
export type ActStep = Extract<StoryStep, { kind: 'act' }>
export type StoryCheck = Story['then'][number]

/** Every story, by file name. Throws when a file has the wrong form, and when there is none at all. */
export function loadStories(folder: URL = new URL('../stories/', import.meta.url)): Story[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
  if (files.length === 0) throw new Error(`no stories in ${fileURLToPath(folder)}`)

  const stories = files.map((file) => parseStory(file, readFileSync(new URL(file, folder), 'utf8')))
  const titles = new Map<string, string>()
  for (const { name, title } of stories) {
    const other = titles.get(title)
    if (other !== undefined) throw new Error(`${name}.yaml: title: the same as in ${other}.yaml`)
    titles.set(title, name)
  }
  return stories
}

/** Parses one story from its text; errors name `file`. */
export function parseStory(file: string, text: string): Story {
  const name = basename(file, '.yaml')
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) throw new Error(`${file}: expected a name in kebab-case`)
  const read = storyFile.safeParse(readYaml(file, text))
  if (read.success) return { name, ...read.data }
  const problems = read.error.issues.map((issue) => `${issue.path.join('.') || 'the story'}: ${issue.message}`)
  throw new Error(`${file}: ${problems.join('; ')}`)
}

function readYaml(file: string, text: string): unknown {
  try {
    return parse(text)
  } catch (cause) {
    throw new Error(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** Returns the usual sender of an event: supervisors judge, operators move. */
function usualCaller(eventType: (typeof eventTypes)[number]): { user: string; role: (typeof roles)[number] } {
  const judges = eventType === 'VERIFIED' || eventType === 'DISPUTED'
  return judges ? { user: 'sven', role: 'supervisor' } : { user: 'olga', role: 'operator' }
}

function isInstant(value: string): boolean {
  const ms = Date.parse(value)
  return Number.isFinite(ms) && new Date(ms).toISOString() === value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
