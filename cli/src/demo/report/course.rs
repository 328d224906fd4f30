//! An action's course in a few characters: `503 → 200`, `cut ? → 200`; and what its destination replied
//! to the questions about it, in words.

use ackbox_domain::settlement::Word;

use crate::demo::destination::Answered;
use crate::demo::evidence::Question;

/// What the attempts were answered, in order, each with a mark where it was asked about afterwards.
pub(super) fn of(answers: &[Answered], asked: &[Question]) -> String {
    let courses = answers.iter().enumerate().map(|(at, answered)| {
        let times = asked.iter().filter(|one| one.after == at + 1).count();
        let mark = match times {
            0 => String::new(),
            1 => " ?".to_owned(),
            many => format!(" ?×{many}"),
        };
        format!("{}{mark}", answer(*answered))
    });
    courses.collect::<Vec<_>>().join(" → ")
}

/// What was replied, each reply once, and what came of it, where there were so many attempts in all.
/// None: nothing was asked.
pub(super) fn told(attempts: usize, asked: &[Question]) -> Option<String> {
    let last = asked.last()?;
    let mut replies: Vec<String> = Vec::new();
    for question in asked {
        let reply = in_words(question);
        if !replies.contains(&reply) {
            replies.push(reply);
        }
    }
    let came = match last.means() {
        Word::Applied => "applied, so not sent again".to_owned(),
        Word::NotApplied if attempts > last.after => "not applied, so sent once more".to_owned(),
        Word::NotApplied => "not applied".to_owned(),
        Word::StillUnknown => "never a clear word".to_owned(),
    };
    Some(format!("{}: {came}", replies.join(", ")))
}

fn in_words(question: &Question) -> String {
    let answered = answer(question.reply.answered());
    match question.reply.body() {
        "" => answered,
        body => format!("{answered} {body}"),
    }
}

fn answer(answered: Answered) -> String {
    match answered {
        Answered::Status(status) => status.to_string(),
        Answered::Dropped => "cut".to_owned(),
        Answered::Stalled => "stopped".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::destination::Reply;

    fn question(after: usize, reply: Reply) -> Question {
        Question {
            destination: "till".to_owned(),
            key: "key".to_owned(),
            after,
            reply,
        }
    }

    #[test]
    fn a_question_is_marked_at_the_attempt_that_it_is_about() {
        let no = question(1, Reply::says(Word::NotApplied, 404, ""));
        let cut = [Answered::Dropped, Answered::Status(200)];
        assert_eq!(of(&cut, std::slice::from_ref(&no)), "cut ? → 200");
        assert_eq!(of(&cut, &[]), "cut → 200");
        assert_eq!(of(&cut[..1], &[no.clone(), no.clone(), no]), "cut ?×3");
    }

    #[test]
    fn the_replies_are_told_once_each_with_what_came_of_them() {
        let queued = Reply::says(Word::StillUnknown, 200, "queued");
        let replies = [queued, Reply::Nothing, queued];
        let asked = replies.map(|reply| question(1, reply));
        let vain = "200 queued, cut: never a clear word";
        assert_eq!(told(1, &asked).unwrap(), vain);
        let applied = [question(1, Reply::says(Word::Applied, 200, ""))];
        assert_eq!(
            told(1, &applied).unwrap(),
            "200: applied, so not sent again"
        );
        let denied = [question(1, Reply::says(Word::NotApplied, 404, ""))];
        let again = told(2, &denied).unwrap();
        assert_eq!(again, "404: not applied, so sent once more");
        assert_eq!(told(1, &denied).unwrap(), "404: not applied");
        assert_eq!(told(1, &[]), None);
    }
}
