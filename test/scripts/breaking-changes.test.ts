import t from 'tap'
import { breakingChanges } from '../../scripts/checks/breaking-changes.ts'

type Json = Record<string, unknown>

const slot = {
  type: 'object',
  properties: { id: { type: 'integer' }, label: { type: 'string' }, note: { type: 'string' } },
  required: ['id', 'label'],
}
const newSlot = {
  type: 'object',
  properties: { label: { type: 'string', maxLength: 64 }, kind: { enum: ['rack', 'floor'] } },
  required: ['label'],
  additionalProperties: false,
}

/** A description of one path. `changes` replaces parts of its operation. */
function describe(changes: Json = {}, schemas: Json = {}): Json {
  const post = {
    parameters: [{ name: 'zone', in: 'query', schema: { type: 'integer' } }],
    requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/NewSlot' } } } },
    responses: {
      201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Slot' } } } },
      400: { description: 'refused' },
    },
    ...changes,
  }
  return { paths: { '/slots': { post } }, components: { schemas: { Slot: slot, NewSlot: newSlot, ...schemas } } }
}

const changesTo = (after: Json) => breakingChanges(describe(), after)

t.test('an addition breaks no client', async (t) => {
  t.strictSame(changesTo(describe()), [])
  t.strictSame(changesTo({ ...describe(), paths: { ...(describe()['paths'] as Json), '/zones': { get: {} } } }), [])
  const more = {
    ...slot,
    properties: { ...slot.properties, zone: { type: 'integer' } },
    required: ['id', 'label', 'zone'],
  }
  t.strictSame(changesTo(describe({}, { Slot: more })), [])
  const optional = { ...newSlot, properties: { ...newSlot.properties, note: { type: 'string' } } }
  t.strictSame(changesTo(describe({}, { NewSlot: optional })), [])
  const wider = {
    ...newSlot,
    properties: { label: { type: ['string', 'null'], maxLength: 99 }, kind: { enum: ['rack', 'floor', 'cage'] } },
  }
  t.strictSame(changesTo(describe({}, { NewSlot: wider })), [])
})

t.test('a path, a method, a parameter or an answer that goes is named', async (t) => {
  t.strictSame(changesTo({ paths: {} }), ['/slots is gone'])
  t.strictSame(changesTo({ paths: { '/slots': { get: {} } } }), ['POST /slots is gone'])
  t.strictSame(changesTo(describe({ parameters: [] })), ['POST /slots: the query parameter zone is gone'])
  t.strictSame(changesTo(describe({ responses: { 200: {} } })), ['POST /slots: the answer 201 is gone'])
})

t.test('a request that was accepted must still be accepted', async (t) => {
  const request = (schema: Json) => changesTo(describe({}, { NewSlot: { ...newSlot, ...schema } }))
  const { label, kind } = newSlot.properties
  t.strictSame(request({ required: ['label', 'kind'] }), ['POST /slots: request kind is required now'])
  t.strictSame(request({ properties: { label } }), ['POST /slots: request kind is gone'])
  t.strictSame(request({ properties: { label: { type: 'integer' }, kind } }), [
    'POST /slots: request label no longer takes string',
  ])
  t.strictSame(request({ properties: { label, kind: { enum: ['rack'] } } }), [
    'POST /slots: request kind no longer takes "floor"',
  ])
  t.strictSame(request({ properties: { label: { ...label, maxLength: 32 }, kind } }), [
    'POST /slots: request label has a smaller maxLength',
  ])
  t.strictSame(
    changesTo(describe({ parameters: [{ name: 'zone', in: 'query', required: true, schema: { type: 'integer' } }] })),
    ['POST /slots: the query parameter zone is required now'],
  )
})

t.test('an answer must still hold what a client reads', async (t) => {
  const answer = (schema: Json) => changesTo(describe({}, { Slot: { ...slot, ...schema } }))
  const { id, label, note } = slot.properties
  t.strictSame(answer({ properties: { id, label } }), ['POST /slots: answer 201 note is gone'])
  t.strictSame(answer({ required: ['id'] }), ['POST /slots: answer 201 label may be absent now'])
  t.strictSame(answer({ properties: { id, note, label: { type: ['string', 'null'] } } }), [
    'POST /slots: answer 201 label may be null now',
  ])
})

t.test('lists, alternatives and schemas that refer to themselves are followed', async (t) => {
  const tree = (leaf: Json) => ({
    type: 'object',
    properties: { leaf, children: { type: 'array', items: { $ref: '#/components/schemas/Slot' } } },
  })
  const before = describe(
    {},
    { Slot: tree({ anyOf: [{ type: 'string' }, { type: 'object', properties: { a: {} } }] }) },
  )
  const after = describe({}, { Slot: tree({ anyOf: [{ type: 'object', properties: {} }, { type: 'string' }] }) })
  t.strictSame(breakingChanges(before, before), [])
  t.strictSame(breakingChanges(before, after), ['POST /slots: answer 201 leaf.a is gone'])
})
