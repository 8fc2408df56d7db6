extension TimelinePage {
    /// The script that handles pointer, wheel, keys and buttons, and shows the page first.
    static let controlScript = #"""
        let drag = null;
        const pointers = new Map();
        const place = event => {
          const box = canvas.getBoundingClientRect();
          return [event.clientX - box.left, event.clientY - box.top];
        };
        canvas.addEventListener('pointerdown', event => {
          canvas.setPointerCapture(event.pointerId);
          pointers.set(event.pointerId, place(event));
          drag = { at: place(event), moved: false };
        });
        canvas.addEventListener('pointermove', event => {
          const [px, py] = place(event);
          const before = pointers.get(event.pointerId);
          if (before && pointers.size === 2) {
            const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
            const factor = Math.max(8, Math.abs(before[0] - other[0])) / Math.max(8, Math.abs(px - other[0]));
            zoom(factor, timeAt((px + other[0]) / 2));
            drag.moved = true;
          } else if (before) {
            if (Math.abs(px - drag.at[0]) + Math.abs(py - drag.at[1]) > 4) drag.moved = true;
            if (drag.moved) { view.top -= py - before[1]; limitView(); pan((before[0] - px) / width); }
          }
          if (before) pointers.set(event.pointerId, [px, py]);
          const found = drag && drag.moved ? null : operationAt(px, py);
          if (found !== state.hover) { state.hover = found; redraw(); }
          showTip(found, px, py);
        });
        const release = event => {
          if (drag && !drag.moved && event.type === 'pointerup') choose(operationAt(...place(event)), false);
          pointers.delete(event.pointerId);
          if (!pointers.size) drag = null;
        };
        canvas.addEventListener('pointerup', release);
        canvas.addEventListener('pointercancel', release);
        canvas.addEventListener('pointerleave', () => { state.hover = null; tip.hidden = true; redraw(); });
        canvas.addEventListener('wheel', event => {
          event.preventDefault();
          const [px] = place(event), unit = event.deltaMode ? 30 : 1;
          if (event.altKey) { view.top += event.deltaY * unit; limitView(); redraw(); }
          else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
            pan((event.deltaX || event.deltaY) * unit / 1000);
          else zoom(Math.exp(event.deltaY * unit * 0.0015), timeAt(px));
        }, { passive: false });
        const middle = () => (view.from + view.to) / 2;
        const fitPath = () => { if (data.path.length) {
          fit(data.path[0][1], data.path[data.path.length - 1][2]);
          const last = operations[data.path[data.path.length - 1][0]];
          if (last && last.row) { view.top = last.row.top - height / 2; limitView(); }
          choose(last || null, false);
        } };
        const keys = {
          '+': () => zoom(0.7, middle()), '=': () => zoom(0.7, middle()), '-': () => zoom(1.4, middle()),
          '0': () => { view.top = 0; fit(); }, c: fitPath, '/': () => $('search').focus(),
          ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1),
          ArrowUp: () => { view.top -= 45; limitView(); redraw(); },
          ArrowDown: () => { view.top += 45; limitView(); redraw(); },
          Escape: () => { $('search').value = ''; $('search').blur(); search(''); choose(null, false); },
        };
        document.addEventListener('keydown', event => {
          const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
          if (event.ctrlKey || event.metaKey || event.altKey || (isTyping && event.key !== 'Escape')) return;
          if (event.target === rowsBox && event.key.startsWith('Arrow')) return;
          const action = keys[event.key];
          if (action) { event.preventDefault(); action(); }
        });
        $('in').onclick = keys['+'];
        $('out').onclick = keys['-'];
        $('fit').onclick = keys['0'];
        $('path').onclick = fitPath;
        $('search').oninput = event => search(event.target.value);
        $('search').addEventListener('keydown', event => {
          // While a word is being composed, the return key belongs to the composition.
          if (event.key !== 'Enter' || event.isComposing) return;
          event.preventDefault();
          goOn(event.shiftKey ? -1 : 1);
        });
        $('group').onchange = event => { arrange(event.target.value); view.top = 0; redraw(); };
        const recolour = () => { readColours(); showRows(); redraw(); };
        $('theme').onclick = () => {
          const root = document.documentElement;
          const isDark = getComputedStyle(root).colorScheme === 'dark';
          root.dataset.theme = isDark ? 'light' : 'dark';
          recolour();
        };
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
        new ResizeObserver(() => { resize(); limitView(); showRows(); }).observe($('stage'));

        // Only what occurs: a small screen has no room for the rest.
        const occurs = new Set(data.path.length ? ['critical'] : []);
        if (suspensions.length) occurs.add('suspension');
        for (const operation of operations) {
          occurs.add(conditions[operation.condition]);
          for (let k = 0; k < operation.waits.length; k += 4) occurs.add(reasons[operation.waits[k]]);
          for (let k = 3; k < operation.runs.length; k += 4) if (operation.runs[k] >= 0) occurs.add('failure');
        }
        const legend = (names, words) => names.forEach((name, number) => {
          if (!occurs.has(name)) return;
          const item = document.createElement('span'), box = document.createElement('i');
          box.style.background = 'var(--' + name + ')';
          item.append(box, words[number]);
          $('legend').append(item);
        });
        legend(conditions, conditions);
        legend(reasons, reasonWords.map(word => 'waits for ' + word));
        legend(['critical'], ['critical path']);
        $('title').textContent = data.queue || 'Trace';
        $('figures').textContent = operations.length + (operations.length === 1 ? ' operation, ' : ' operations, ')
          + duration(data.end)
          + (data.edgesAreCut ? ', not all dependencies are shown' : '');
        $('summary').textContent = data.summary;
        // A link can say what is looked for, how rows are grouped, and light or dark: #find=page&rows=lane&theme=dark
        const wishes = new URLSearchParams(location.hash.slice(1));
        if (['dark', 'light'].includes(wishes.get('theme')))
          document.documentElement.dataset.theme = wishes.get('theme');
        if (wishes.get('rows') === 'lane') $('group').value = 'lane';
        readColours();
        arrange($('group').value);
        resize();
        $('search').value = wishes.get('find') || '';
        search($('search').value);
        if (wishes.has('path')) fitPath();
        draw();
        document.documentElement.setAttribute('data-operations', operations.length);
        """#
}
