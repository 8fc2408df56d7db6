extension TimelinePage {
    /// The script of the table, which creates elements only for the visible rows.
    static let tableScript = #"""
        const columns = [
          ['Operation', operation => operation.name, operation => operation.name],
          ['Outcome', operation => operation.condition, operation => conditions[operation.condition]],
          ['Started', operation => operation.runs.length ? operation.start : Infinity,
            operation => operation.runs.length ? duration(operation.start) : '–'],
          ['Waiting', operation => operation.waiting, operation => duration(operation.waiting)],
          ['Running', operation => operation.running, operation => duration(operation.running)],
          ['Runs', operation => operation.attempts, operation => String(operation.attempts)],
        ];
        const rowsBox = $('rows'), space = $('space'), lineHeight = 22, tallest = 8e6;
        let listed = operations.slice(), sorting = { column: 2, isDown: false };
        // A browser cannot scroll through more than a few million pixels: more rows are passed faster.
        const wholeHeight = () => listed.length * lineHeight;
        const beyond = height => Math.max(0, height - rowsBox.clientHeight);
        const fastness = () => beyond(wholeHeight()) / Math.max(1, beyond(Math.min(tallest, wholeHeight())));
        const passed = () => Math.min(rowsBox.scrollTop * fastness(), beyond(wholeHeight()));
        const sortRows = () => {
          const key = columns[sorting.column][1], sign = sorting.isDown ? -1 : 1;
          listed.sort((a, b) => {
            const left = key(a), right = key(b);
            return left < right ? -sign : left > right ? sign : a.place - b.place;
          });
          Array.from($('head').children).forEach((button, column) => {
            const isSorted = column === sorting.column;
            button.textContent = columns[column][0] + (isSorted ? (sorting.isDown ? ' ↓' : ' ↑') : '');
            button.setAttribute('aria-sort', isSorted ? (sorting.isDown ? 'descending' : 'ascending') : 'none');
          });
          space.style.height = Math.min(tallest, wholeHeight()) + 'px';
          showRows();
        };
        const showRows = () => {
          const from = passed(), start = Math.floor(from / lineHeight);
          const count = Math.ceil(rowsBox.clientHeight / lineHeight) + 1;
          for (const old of Array.from(rowsBox.querySelectorAll('.row'))) old.remove();
          for (let place = start; place < Math.min(listed.length, start + count); place++) {
            const operation = listed[place], row = document.createElement('div');
            row.className = operation === state.chosen ? 'row chosen' : 'row';
            row.setAttribute('role', 'row');
            row.style.top = rowsBox.scrollTop + place * lineHeight - from + 'px';
            columns.forEach((column, number) => {
              const cell = document.createElement('span');
              cell.setAttribute('role', 'cell');
              cell.textContent = column[2](operation);
              if (number === 0) { cell.dir = 'auto'; cell.title = operation.name; }
              if (number === 1) cell.style.color = colours[conditions[operation.condition]];
              row.append(cell);
            });
            row.onclick = () => choose(operation, true);
            rowsBox.append(row);
          }
        };
        const showInTable = operation => {
          const place = listed.indexOf(operation), top = place * lineHeight, room = rowsBox.clientHeight - lineHeight;
          if (place < 0 || (top >= passed() && top <= passed() + room)) return;
          rowsBox.scrollTop = Math.min(top - room / 2, beyond(wholeHeight())) / Math.max(fastness(), 1e-9);
        };
        columns.forEach((column, number) => {
          const button = document.createElement('button');
          button.setAttribute('role', 'columnheader');
          button.onclick = () => {
            sorting = { column: number, isDown: sorting.column === number ? !sorting.isDown : number > 2 };
            sortRows();
          };
          $('head').append(button);
        });
        rowsBox.addEventListener('scroll', showRows);
        const search = words => {
          const wanted = words.trim().toLowerCase();
          listed = !wanted ? operations.slice() : operations.filter(operation =>
            operation.name.toLowerCase().includes(wanted) || conditions[operation.condition] === wanted
            || text(operation.error).toLowerCase().includes(wanted));
          state.matches = wanted ? new Set(listed.map(operation => operation.place)) : null;
          document.documentElement.setAttribute('data-found', listed.length);
          rowsBox.scrollTop = 0;
          sortRows();
          if (wanted && listed.length) goTo(listed[0]);
          redraw();
        };
        /// Shows an operation that was found, in the picture and in the table.
        const goTo = operation => { reveal(operation); choose(operation, false); };
        /// Goes from the chosen operation to the next or previous result of the search. The first follows the last.
        const goOn = step => {
          if (!state.matches || !listed.length) return;
          const place = listed.indexOf(state.chosen), from = place < 0 && step < 0 ? 0 : place;
          goTo(listed[(from + step + listed.length) % listed.length]);
        };
        """#
}
