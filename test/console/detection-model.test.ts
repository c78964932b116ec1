import t from 'tap'
import { ModelFault, readModel } from '../../src/console/detection-model.ts'
import { brightModel } from '../support/tiny-model.ts'

t.test('a model says which picture it takes, how it answers, and what its classes are called', async (t) => {
  t.strictSame(readModel(brightModel()), { width: 64, height: 64, layout: 'columns', labels: null })
  const names = `{0: 'person', 2: "driver's seat", 1: 'it\\'s'}`
  t.strictSame(readModel(brightModel({ names })).labels, ['person', "it's", "driver's seat"])
  t.strictSame(
    readModel(brightModel({ names: `{1: 'car'}` })).labels,
    ['0', 'car'],
    'one without a name has its number',
  )
  t.strictSame(readModel(brightModel({ names: 'nothing of use' })).labels, null)
  t.equal(readModel(brightModel({ output: [1, 300, 6] })).layout, 'rows')
  t.equal(readModel(brightModel({ output: ['batch', 'found', 6] })).layout, 'rows')
  t.equal(readModel(brightModel({ output: ['batch', 84, 'anchors'] })).layout, 'columns')
  const open = readModel(brightModel({ input: ['batch', 3, 'height', 'width'] }))
  t.strictSame([open.width, open.height], [640, 640], 'a size that is left open is 640')
  const wide = readModel(brightModel({ input: [1, 3, 384, 640] }))
  t.strictSame([wide.width, wide.height], [640, 384])
})

t.test('a file that the console cannot use is refused with what is wrong', async (t) => {
  const faults: readonly (readonly [Buffer, RegExp])[] = [
    [Buffer.from('no model'), /^is no ONNX model/],
    [Buffer.alloc(0), /^is no ONNX model/],
    [brightModel().subarray(0, 900), /^is no ONNX model, or not all of one$/],
    [brightModel({ isSplit: true }), /^keeps its weights in another file; export it as one file$/],
    [
      brightModel({ input: [1, 1, 64, 64] }),
      /^takes float32 \[1, 1, 64, 64\]; one input float32 \[1, 3, height, width\]/,
    ],
    [brightModel({ input: [1, 3, 64] }), /^takes float32 \[1, 3, 64\]/],
    [brightModel({ inputType: 2 }), /^takes elements of type 2 \[1, 3, 64, 64\]/],
    [brightModel({ input: [8, 3, 64, 64] }), /^takes float32 \[8, 3/],
    [brightModel({ input: [1, 3, 16, 64] }), /^takes pictures of 64 x 16; 32 to 2048 pixels a side/],
    [brightModel({ input: [1, 3, 64, 4096] }), /^takes pictures of 4096 x 64/],
    [brightModel({ output: [1, 1000] }), /^answers float32 \[1, 1000\]; float32 \[1, 4 \+ classes, n\] or \[1, n, 6\]/],
    [brightModel({ output: [1, 4, 64] }), /^answers float32 \[1, 4, 64\]/],
  ]
  for (const [bytes, words] of faults) {
    const fault = t.throws(() => readModel(bytes))
    t.ok(fault instanceof ModelFault, words.source)
    t.match((fault as Error).message, words)
  }
})

t.test('no damaged model ends in anything but a clear fault', async (t) => {
  const whole = brightModel({ names: `{0: 'bright'}` })
  const others: unknown[] = []
  for (let at = 0; at < whole.length; at += 7) {
    for (const bytes of [
      whole.subarray(0, at),
      Buffer.concat([whole.subarray(0, at), Buffer.from([255]), whole.subarray(at + 1)]),
    ]) {
      try {
        readModel(bytes)
      } catch (error) {
        if (!(error instanceof ModelFault)) others.push([at, error])
      }
    }
  }
  t.same(others, [])
})
