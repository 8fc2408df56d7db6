extension TimelinePage {
    /// The script that draws the visible rows.
    static let drawingScript = #"""
        const canvas = $('canvas'), pen = canvas.getContext('2d');
        const whole = Math.max(data.end, 1e-3);
        const suspensions = data.suspensions.map(([from, to]) => ({ from, to }));
        const view = { from: -whole * 0.01, to: whole * 1.01, top: 0 };
        const state = { hover: null, chosen: null, matches: null };
        let colours = {}, width = 0, height = 0, due = false;
        const axisHeight = 20;
        const readColours = () => {
          const style = getComputedStyle(document.documentElement);
          for (const name of [...conditions, ...reasons, 'back', 'panel', 'text', 'label', 'faint', 'line',
          'critical', 'mark'])
            colours[name] = style.getPropertyValue('--' + name).trim();
        };
        const x = time => (time - view.from) / (view.to - view.from) * width;
        const timeAt = pixel => view.from + pixel / width * (view.to - view.from);
        const redraw = () => { if (!due) { due = true; requestAnimationFrame(() => { due = false; draw(); }); } };
        const resize = () => {
          const scale = window.devicePixelRatio || 1;
          width = canvas.clientWidth;
          height = canvas.clientHeight;
          canvas.width = Math.round(width * scale);
          canvas.height = Math.round(height * scale);
          pen.setTransform(scale, 0, 0, scale, 0, 0);
          redraw();
        };
        const firstRow = y => {
          let low = 0, high = rows.length;
          while (low < high) { const middle = (low + high) >> 1;
            if (rows[middle].top + rows[middle].height <= y) low = middle + 1; else high = middle; }
          return low;
        };
        /// Spans of a row do not overlap: the first that ends at or after that time.
        const firstSpan = (spans, time) => {
          let low = 0, high = spans.length;
          while (low < high) { const middle = (low + high) >> 1;
            if (spans[middle].to < time) low = middle + 1; else high = middle; }
          return low;
        };
        /// As many digits as tell it from the next.
        const moment = (time, step) => {
          const [size, unit] = [[1e6, 's'], [1e3, 'ms'], [1, 'µs'], [1e-3, 'ns']].find(([size]) => view.to >= 2 * size)
            ?? [1e-3, 'ns'];
          return time === 0 ? '0'
            : (time / size).toFixed(Math.max(0, -Math.floor(Math.log10(step / size)))) + ' ' + unit;
        };
        const drawStrip = (row, y) => {
          if (!row.most) return;
          const size = whole / bins;
          const from = Math.max(0, Math.floor(view.from / size)), to = Math.min(bins - 1, Math.ceil(view.to / size));
          const stride = Math.max(1, Math.floor((to - from) / width));
          for (let bin = from; bin <= to; bin += stride) {
            let bottom = y + row.height - 2;
            const left = x(bin * size), across = Math.max(1, x((bin + stride) * size) - left + 0.5);
            row.counts.forEach((count, reason) => {
              const high = count[bin] / row.most * (row.height - 6);
              if (high <= 0) return;
              pen.fillStyle = colours[reasons[reason]];
              pen.fillRect(left, bottom - high, across, high);
              bottom -= high;
            });
          }
          pen.fillStyle = colours.faint;
          pen.fillText('waiting, at most ' + row.most, 6, y + 8);
        };
        const bar = (from, to, y, high, colour) => {
          const left = Math.max(-2, x(from)), right = Math.min(width + 2, x(to));
          if (right < 0 || left > width) return;
          pen.fillStyle = colour;
          pen.fillRect(left, y, Math.max(1.5, right - left), high);
        };
        const drawWaits = (operation, y) => {
          for (let k = 0; k < operation.waits.length; k += 4)
            bar(operation.waits[k + 1], operation.waits[k + 2], y + 5, rowHeight - 10,
              colours[reasons[operation.waits[k]]]);
        };
        /// One run, in a lane, or all.
        const drawRuns = (operation, y, only) => {
          const last = operation.runs.length - 4;
          for (let k = only ?? 0; k <= (only ?? last); k += 4) {
            const isFailed = operation.runs[k + 3] >= 0;
            bar(operation.runs[k + 1], operation.runs[k + 2], y + 2, rowHeight - 4,
              colours[isFailed ? 'failure' : conditions[operation.condition]]);
          }
          if (last < 0) {
            const at = x(operation.last), middle = y + rowHeight / 2;
            pen.fillStyle = colours[conditions[operation.condition]];
            pen.beginPath();
            pen.moveTo(at, middle - 5); pen.lineTo(at + 4, middle);
            pen.lineTo(at, middle + 5); pen.lineTo(at - 4, middle);
            pen.fill();
          }
        };
        const outline = (operation, y, colour, run) => {
          const from = run === undefined ? operation.start : operation.runs[run + 1];
          const to = run === undefined ? operation.end : operation.runs[run + 2];
          const left = Math.max(-5, x(from)), right = Math.min(width + 5, x(to));
          pen.strokeStyle = colour;
          pen.lineWidth = 2;
          pen.strokeRect(left, y + 1, Math.max(3, right - left), rowHeight - 2);
        };
        /// As much of a name as there is room for. Names are short, and cut by whole characters.
        const fitted = (name, room) => {
          if (pen.measureText(name).width <= room) return name;
          const letters = Array.from(name);
          let low = 0, high = letters.length;
          while (low < high) { const middle = (low + high + 1) >> 1;
            if (pen.measureText(letters.slice(0, middle).join('') + '…').width <= room) low = middle;
            else high = middle - 1; }
          return low ? letters.slice(0, low).join('') + '…' : '';
        };
        /// In its first run, if it fits; else behind its end, up to the next one; else what fits in the run, or before
        /// it.
        const drawName = (operation, run, before, end, next, y) => {
          const runs = operation.runs, first = run ?? 0, middle = y + rowHeight / 2 + 0.5;
          const left = runs.length ? Math.max(0, x(runs[first + 1])) : Math.min(end, width);
          const inside = runs.length ? Math.min(width, x(runs[first + 2])) - left - 8 : 0, outside = next - end - 12;
          const whole = pen.measureText(operation.name).width;
          const show = (name, at, colour, align) => {
            pen.fillStyle = colour;
            pen.textAlign = align;
            pen.fillText(name, at, middle);
            pen.textAlign = 'left';
          };
          if (whole <= inside) show(operation.name, left + 4, colours.label, 'left');
          else if (whole <= outside) show(operation.name, end + 6, colours.text, 'left');
          else if (inside >= 24) show(fitted(operation.name, inside), left + 4, colours.label, 'left');
          else if (left - before >= 52)
            show(fitted(operation.name, left - before - 12), left - 7, colours.text, 'right');
          else if (outside >= 40) show(fitted(operation.name, outside), end + 6, colours.text, 'left');
        };
        const drawSpans = (row, y) => {
          let reached = -1;
          for (let place = firstSpan(row.spans, view.from); place < row.spans.length; place++) {
            const { operation, run, from, to } = row.spans[place];
            if (from > view.to) break;
            const right = x(to), plain = operation.condition === 0 && !operation.critical;
            // Less than a pixel, where there is something already.
            if (right - reached < 0.7 && plain && !state.matches) continue;
            reached = right;
            pen.globalAlpha = state.matches && !state.matches.has(operation.place) ? 0.15 : 1;
            if (row.waits) drawWaits(operation, y);
            drawRuns(operation, y, run);
            if (operation.critical) outline(operation, y, colours.critical, run);
            const next = row.spans[place + 1], last = row.spans[place - 1];
            drawName(operation, run, last ? Math.max(0, x(last.to)) : 0, Math.max(right, 0),
              next ? Math.min(width, x(next.from)) : width, y);
          }
          pen.globalAlpha = 1;
        };
        const rowY = operation => operation.row ? operation.row.top + axisHeight - view.top : null;
        const link = (source, target, colour) => {
          const from = rowY(source), to = rowY(target);
          if (from === null || to === null) return;
          const [x1, y1, x2, y2] = [x(source.end), from + rowHeight / 2, x(target.start), to + rowHeight / 2];
          const bend = Math.max(20, Math.abs(x2 - x1) / 2);
          pen.strokeStyle = colour;
          pen.lineWidth = 1.5;
          pen.beginPath(); pen.moveTo(x1, y1); pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2); pen.stroke();
        };
        /// From one operation of the critical path to the next. More than that would be a blot.
        const mostLinks = 60;
        const drawPath = () => {
          const seen = data.path.filter(([, from, to]) => to >= view.from && from <= view.to);
          if (seen.length > mostLinks) return;
          for (let k = 1; k < seen.length; k++) {
            const [before, after] = [operations[seen[k - 1][0]], operations[seen[k][0]]];
            if (before && after && before !== after) link(before, after, colours.critical);
          }
        };
        const drawFocus = operation => {
          const y = rowY(operation);
          if (y === null) return;
          if (operation.row.isLane) {
            outline(operation, y, colours.mark, operation.runs.length ? 0 : undefined);
          } else {
            if (!operation.row.waits) { drawWaits(operation, y); drawRuns(operation, y); }
            outline(operation, y, colours.mark);
          }
          for (const source of operation.sources.slice(0, 300)) link(operations[source], operation, colours.mark);
          for (const target of operation.targets.slice(0, 300)) link(operation, operations[target], colours.faint);
        };
        /// Draws the suspensions in the visible range, behind everything and at the axis. Many may share a pixel.
        const drawSuspensions = () => {
          let place = firstSpan(suspensions, view.from), reached = -1;
          pen.fillStyle = colours.suspension;
          for (; place < suspensions.length && suspensions[place].from <= view.to; place++) {
            const left = Math.max(0, x(suspensions[place].from), reached);
            const right = Math.min(width, Math.max(x(suspensions[place].to), left + 1));
            if (right - reached < 0.7) continue;
            reached = right;
            pen.globalAlpha = 0.14;
            pen.fillRect(left, axisHeight, right - left, height - axisHeight);
            pen.globalAlpha = 1;
            pen.fillRect(left, axisHeight - 3, right - left, 3);
          }
        };
        const draw = () => {
          pen.fillStyle = colours.back;
          pen.fillRect(0, 0, width, height);
          drawAxis();
          drawSuspensions();
          pen.save();
          pen.beginPath(); pen.rect(0, axisHeight, width, height - axisHeight); pen.clip();
          for (let place = firstRow(view.top); place < rows.length; place++) {
            const row = rows[place], y = row.top + axisHeight - view.top;
            if (y > height) break;
            if (row.kind === 'head') {
              pen.fillStyle = colours.panel; pen.fillRect(0, y + 1, width, row.height - 3);
              pen.fillStyle = colours.text;
              const title = Array.from(row.title).slice(0, 60).join('');
              pen.fillText('\u2068' + title + '\u2069 · ' + row.count, 6, y + row.height / 2);
            } else if (row.kind === 'strip') drawStrip(row, y);
            else drawSpans(row, y);
          }
          drawPath();
          for (const operation of new Set([state.chosen, state.hover])) if (operation) drawFocus(operation);
          if (!operations.length) {
            pen.fillStyle = colours.faint; pen.fillText('No operations were recorded.', 12, 40);
          }
          pen.restore();
        };
        """#
}

// MARK: - Axis

extension TimelinePage {
    /// The script that draws the time axis and its vertical lines.
    static let axisScript = #"""
        const axisStep = () => {
          const rough = (view.to - view.from) / Math.max(2, width / 90);
          const power = Math.pow(10, Math.floor(Math.log10(rough)));
          return power * [1, 2, 5, 10].find(factor => factor * power >= rough);
        };
        const drawAxis = () => {
          pen.fillStyle = colours.panel;
          pen.fillRect(0, 0, width, axisHeight);
          const step = axisStep();
          pen.font = '11px system-ui, sans-serif';
          pen.textBaseline = 'middle';
          for (let number = Math.ceil(Math.max(0, view.from) / step); number * step <= view.to; number++) {
            const at = Math.round(x(number * step)) + 0.5;
            pen.fillStyle = colours.line;
            pen.fillRect(at, 0, 1, height);
            pen.fillStyle = colours.faint;
            const label = moment(number * step, step);
            if (at + 3 + pen.measureText(label).width < width) pen.fillText(label, at + 3, axisHeight / 2);
          }
        };
        """#
}
