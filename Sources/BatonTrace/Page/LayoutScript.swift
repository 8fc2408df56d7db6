extension TimelinePage {
    /// The script that reads the data and assigns every operation to a row.
    static let layoutScript = #"""
        const $ = id => document.getElementById(id);
        const failed = message => document.documentElement.setAttribute('data-error', message);
        window.addEventListener('error', event => failed(event.message));
        const data = JSON.parse($('data').textContent);
        const conditions = ['success', 'failure', 'cancelled', 'skipped', 'running', 'waiting'];
        const reasons = ['dependencies', 'delay', 'conditions', 'queue', 'suspension', 'exclusion', 'rate', 'pause'];
        const reasonWords = ['dependencies', 'a delay', 'conditions', 'the queue', 'the suspended queue',
          'an exclusion', 'a rate', 'the next run'];
        const sum = (list, step, from, to) => {
          let total = 0;
          for (let k = 0; k < list.length; k += step) total += list[k + to] - list[k + from];
          return total;
        };
        const operations = data.operations.map((row, place) => {
          const [id, name, stage, condition, first, finished, waits, runs, sources, parent, error, cancel,
            critical] = row;
          const last = finished === null ? data.end : finished;
          return { place, id, name, stage, condition, first, finished, last, waits, runs, sources, parent, error,
            cancel, critical, attempts: runs.length / 4, waiting: sum(waits, 4, 1, 2), running: sum(runs, 4, 1, 2),
            start: runs.length ? runs[1] : last, end: runs.length ? runs[runs.length - 2] : last, targets: [],
            children: [] };
        });
        data.operations = null;
        for (const operation of operations) {
          for (const source of operation.sources) operations[source].targets.push(operation.place);
          if (operation.parent >= 0) operations[operation.parent].children.push(operation.place);
        }
        const text = place => place < 0 ? '' : data.texts[place];
        const duration = us => {
          const units = [[1e6, 's'], [1e3, 'ms'], [1, 'µs']];
          for (const [size, unit] of units) if (Math.abs(us) >= size) {
            const value = us / size;
            return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2) + ' ' + unit;
          }
          return us === 0 ? '0' : Math.round(us * 1000) + ' ns';
        };

        // Rows: of a small stage from the first moment on, with the waits; of a big one the runs alone, and a strip
        // that counts who waits. A span takes the first row that is free.
        const rowHeight = 15, headHeight = 19, stripHeight = 34, manyInStage = 400, bins = 1500;
        let rows = [], contentHeight = 0;
        const pack = (spans, top) => {
          spans.sort((a, b) => a.from - b.from || a.to - b.to);
          const packed = [], heap = [];
          const before = (a, b) => a.free < b.free;
          const sift = () => {
            let place = 0;
            for (;;) {
              let least = 2 * place + 1;
              if (least >= heap.length) return;
              if (least + 1 < heap.length && before(heap[least + 1], heap[least])) least++;
              if (!before(heap[least], heap[place])) return;
              [heap[least], heap[place]] = [heap[place], heap[least]];
              place = least;
            }
          };
          for (const span of spans) {
            const head = heap[0];
            if (head && head.free <= span.from) {
              head.row.spans.push(span);
              head.free = Math.max(span.to, span.from + 1e-6);
              sift();
            } else {
              const row = { kind: 'spans', top: top + packed.length * rowHeight, height: rowHeight, spans: [span] };
              packed.push(row);
              heap.push({ row, free: Math.max(span.to, span.from + 1e-6) });
              for (let place = heap.length - 1; place > 0;) {
                const up = (place - 1) >> 1;
                if (!before(heap[place], heap[up])) break;
                [heap[up], heap[place]] = [heap[place], heap[up]];
                place = up;
              }
            }
          }
          return packed;
        };
        const strip = (members, top) => {
          const counts = reasons.map(() => new Float32Array(bins + 1));
          const width = Math.max(data.end, 1e-3) / bins;
          for (const operation of members) {
            for (let k = 0; k < operation.waits.length; k += 4) {
              const count = counts[operation.waits[k]];
              count[Math.min(bins, Math.floor(operation.waits[k + 1] / width))]++;
              count[Math.min(bins, Math.ceil(operation.waits[k + 2] / width))]--;
            }
          }
          let most = 0;
          for (const count of counts) for (let bin = 1; bin <= bins; bin++) count[bin] += count[bin - 1];
          for (let bin = 0; bin < bins; bin++)
            most = Math.max(most, counts.reduce((all, count) => all + count[bin], 0));
          return { kind: 'strip', top, height: stripHeight, counts, most };
        };
        const arrange = group => {
          rows = [];
          let top = 0;
          for (const operation of operations) operation.row = null;
          const add = (title, members, spansOf, withStrip) => {
            rows.push({ kind: 'head', top, height: headHeight, title, count: members.length });
            top += headHeight;
            if (withStrip) {
              const row = strip(members, top);
              if (row.most > 0) { rows.push(row); top += stripHeight; }
            }
            const packed = pack(members.flatMap(spansOf), top);
            for (const row of packed) { row.waits = !withStrip; rows.push(row); }
            for (const row of packed) for (const span of row.spans) span.operation.row = span.operation.row || row;
            top += packed.length * rowHeight + 5;
          };
          if (group === 'lane') {
            const lanes = Array.from({ length: data.lanes }, () => []);
            const idle = [];
            for (const operation of operations) {
              if (!operation.runs.length) idle.push(operation);
              for (let k = 0; k < operation.runs.length; k += 4) lanes[operation.runs[k]].push(
                { operation, run: k, from: operation.runs[k + 1], to: operation.runs[k + 2] });
            }
            lanes.forEach((spans, lane) => add('lane ' + (lane + 1), spans, span => span, false));
            if (idle.length) add('never ran', idle,
              operation => ({ operation, from: operation.last, to: operation.last }), idle.length > manyInStage);
            for (const row of rows) { row.waits = false; row.isLane = true; }
          } else {
            const stages = data.stages.map(() => []);
            for (const operation of operations) stages[operation.stage].push(operation);
            stages.map((members, stage) => ({ members, stage }))
              .sort((a, b) => a.members[0].first - b.members[0].first)
              .forEach(({ members, stage }) => {
                const many = members.length > manyInStage;
                add(data.stages[stage], members, operation => many
                  ? { operation, from: operation.start, to: operation.end }
                  : { operation, from: operation.first, to: operation.last }, many);
              });
          }
          contentHeight = top;
        };
        """#
}
