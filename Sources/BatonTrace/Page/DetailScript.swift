extension TimelinePage {
    /// The script that describes an operation, and finds the one under the pointer.
    static let detailScript = #"""
        // The most important lines come first, because a small screen cuts off the rest.
        const describe = operation => {
          const lines = [operation.name, conditions[operation.condition] + ', id ' + operation.id];
          if (operation.critical) lines[1] += ', on the critical path';
          if (operation.error >= 0) lines.push('error: ' + text(operation.error));
          if (operation.cancel >= 0) lines.push('was cancelled ' + text(operation.cancel));
          const names = (title, places) => {
            if (places.length) lines.push(title + ': '
              + places.slice(0, 6).map(place => operations[place].name).join(', ')
              + (places.length > 6 ? ' and ' + (places.length - 6) + ' more' : ''));
          };
          names('after', operation.sources);
          names('before', operation.targets);
          if (operation.parent >= 0) names('run by', [operation.parent]);
          names('runs', operation.children);
          lines.push('first seen at ' + duration(operation.first) + (operation.finished === null ? ', has not finished'
            : ', finished at ' + duration(operation.finished)));
          // Waits that are shorter than a pixel are invisible.
          const least = (view.to - view.from) / width;
          for (let k = 0; k < operation.waits.length; k += 4) {
            const time = operation.waits[k + 2] - operation.waits[k + 1], name = text(operation.waits[k + 3]);
            const what = name ? 'the ' + reasons[operation.waits[k]] + ' ' + name : reasonWords[operation.waits[k]];
            if (time >= least) lines.push('waited for ' + what + ': ' + duration(time));
          }
          const count = operation.runs.length / 4;
          for (let k = 0; k < operation.runs.length && k < 40; k += 4) {
            const error = text(operation.runs[k + 3]);
            lines.push((count > 1 ? 'run ' + (k / 4 + 1) : 'ran') + ': '
              + duration(operation.runs[k + 2] - operation.runs[k + 1]) + (error ? ', failed: ' + error : ''));
          }
          return lines.join('\n');
        };
        const operationAt = (px, py) => {
          if (py < axisHeight) return null;
          const y = py - axisHeight + view.top, row = rows[firstRow(y)];
          if (!row || row.kind !== 'spans' || y < row.top) return null;
          const slack = 4 / width * (view.to - view.from), time = timeAt(px);
          let best = null, nearest = slack;
          for (let place = firstSpan(row.spans, time - slack); place < row.spans.length; place++) {
            const span = row.spans[place];
            if (span.from > time + slack) break;
            const far = Math.max(0, span.from - time, time - span.to);
            if (far <= nearest) { nearest = far; best = span.operation; }
          }
          return best;
        };
        const tip = $('tip');
        const showTip = (operation, px, py) => {
          tip.hidden = !operation;
          if (!operation) return;
          tip.textContent = describe(operation);
          const across = tip.offsetWidth, high = tip.offsetHeight;
          tip.style.left = Math.max(4, Math.min(px + 14, width - across - 4)) + 'px';
          tip.style.top = Math.max(4, py + 16 + high > height ? py - high - 10 : py + 16) + 'px';
        };
        const limitView = () => {
          view.top = Math.max(0, Math.min(view.top, contentHeight + axisHeight - height));
        };
        const zoom = (factor, at) => {
          const span = Math.min(Math.max((view.to - view.from) * factor, whole * 1e-9, 1e-3), whole * 1.5);
          const share = (at - view.from) / (view.to - view.from);
          view.from = at - span * share;
          view.to = view.from + span;
          redraw();
        };
        const pan = share => {
          const by = (view.to - view.from) * share;
          const span = view.to - view.from;
          view.from = Math.max(-span * 0.9, Math.min(whole - span * 0.1, view.from + by));
          view.to = view.from + span;
          redraw();
        };
        const fit = (from = 0, to = whole) => {
          const margin = Math.max((to - from) * 0.02, 1e-3);
          view.from = from - margin;
          view.to = to + margin;
          redraw();
        };
        /// Moves the picture as little as possible, so that the operation's row is visible, and the start of its
        /// run, or its end if it never ran.
        const reveal = operation => {
          const row = operation.row, room = height - axisHeight;
          if (row && (row.top < view.top || row.top + rowHeight > view.top + room)) {
            view.top = row.top - room / 3;
            limitView();
          }
          const span = view.to - view.from, margin = span / 100;
          if (operation.end >= view.from + margin && operation.start <= view.to - margin) return;
          view.from = operation.start - span / 3;
          view.to = view.from + span;
        };
        const choose = (operation, isShown) => {
          state.chosen = operation;
          if (operation && isShown) {
            fit(operation.first, Math.max(operation.last, operation.first + whole * 1e-6));
            if (operation.row) view.top = operation.row.top - height / 3;
            limitView();
          }
          if (operation) showInTable(operation);
          showRows();
          redraw();
        };
        """#
}
