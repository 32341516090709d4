// Where the page begins.

import { show_lessons, show_records } from "./records.js";
import { mount } from "./widget.js";

const book = JSON.parse(document.getElementById("book").textContent);
document.documentElement.classList.add("scripted");
const page = mount(book);
if (book.records) {
  show_lessons(page);
  show_records(book, page);
}
